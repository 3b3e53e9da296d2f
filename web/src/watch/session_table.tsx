import { useState } from "preact/hooks";
import { figure, thousands } from "../figures";
import type { Listed, Watched } from "./watched";

interface Props {
  sessions: readonly Listed[];
  picked: ReadonlyMap<string, Watched>;
  /** Whether no more can be picked. */
  isFull: boolean;
  onPick: (id: string, on: boolean) => void;
}

/** As many rows as are drawn. */
const ROWS = 200;

/** The sessions of the server, to pick from; where there are many, by name. */
export function SessionTable(props: Props) {
  const { sessions } = props;
  const [text, setText] = useState("");
  const found = text === "" ? sessions : sessions.filter((session) => isFound(session, text));
  const drawn = found.slice(0, ROWS);
  return (
    <>
      {sessions.length > ROWS && (
        <label class="watch-find">
          Find a session or an episode
          <input
            class="input"
            type="search"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      )}
      <Table {...props} sessions={drawn} />
      {found.length > drawn.length && (
        <p class="watch-line">
          The first {ROWS} of {thousands(found.length)} are listed.
        </p>
      )}
    </>
  );
}

function Table({ sessions, picked, isFull, onPick }: Props) {
  const areNamed = sessions.some(({ episode_id }) => episode_id !== null);
  return (
    <div class="watch-scroll" role="region" aria-label="Running sessions" tabIndex={0}>
      <table class="watch-table">
        <thead>
          <tr>
            <th scope="col">Session</th>
            {areNamed && (
              <th scope="col" class="watch-wide">
                Episode
              </th>
            )}
            <th scope="col" class="watch-number">
              Steps of episode
            </th>
            <th scope="col" class="watch-number">
              Reward of episode
            </th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              isNamed={areNamed}
              isPicked={picked.has(session.id)}
              isFull={isFull}
              onPick={onPick}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps extends Pick<Props, "isFull" | "onPick"> {
  session: Listed;
  /** Whether the list was told a while ago: nothing has changed since. */
  /** Whether episodes have names. */
  isNamed: boolean;
  isPicked: boolean;
}

function SessionRow({ session, isNamed, isPicked, isFull, onPick }: RowProps) {
  return (
    <tr>
      <th scope="row">
        <label class="watch-pick">
          <input
            type="checkbox"
            checked={isPicked}
            disabled={isFull && !isPicked}
            onChange={(event) => onPick(session.id, event.currentTarget.checked)}
          />
          {session.id}
        </label>
      </th>
      {isNamed && (
        <td class="watch-wide watch-name" title={session.episode_id ?? ""}>
          {session.episode_id ?? "–"}
        </td>
      )}
      <td class="watch-number">{thousands(session.step_count)}</td>
      <td class="watch-number">{session.total_reward === null ? "–" : figure(session.total_reward)}</td>
      <td>{nowOf(session)}</td>
    </tr>
  );
}

function isFound({ id, episode_id }: Listed, text: string): boolean {
  return id.includes(text) || (episode_id ?? "").includes(text);
}

function nowOf({ busy, playing, done, held }: Listed): string {
  if (busy) return "busy";
  if (playing) return "playing";
  if (done) return "done";
  return held ? "idle" : "left alone";
}
