import { figure } from "../history/format";
import type { Listed, Watched } from "./watched";

interface Props {
  sessions: readonly Listed[];
  picked: ReadonlyMap<string, Watched>;
  /** Whether no more can be picked. */
  isFull: boolean;
  onPick: (id: string, on: boolean) => void;
}

/** The sessions of the server, to pick from. */
export function SessionTable({ sessions, picked, isFull, onPick }: Props) {
  return (
    <div class="watch-scroll" role="region" aria-label="Running sessions" tabIndex={0}>
      <table class="watch-table">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col" class="watch-wide">
              Episode
            </th>
            <th scope="col" class="watch-number">
              Steps
            </th>
            <th scope="col" class="watch-number">
              Reward
            </th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.id}>
              <th scope="row">
                <label class="watch-pick">
                  <input
                    type="checkbox"
                    checked={picked.has(session.id)}
                    disabled={isFull && !picked.has(session.id)}
                    onChange={(event) => onPick(session.id, event.currentTarget.checked)}
                  />
                  {session.id}
                </label>
              </th>
              <td class="watch-wide watch-name" title={session.episode_id ?? ""}>
                {session.episode_id ?? "–"}
              </td>
              <td class="watch-number">{session.step_count.toLocaleString("en")}</td>
              <td class="watch-number">{session.total_reward === null ? "–" : figure(session.total_reward)}</td>
              <td class="watch-now">{nowOf(session)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function nowOf({ busy, done, held }: Listed): string {
  if (busy) return "busy";
  if (done) return "done";
  return held ? "idle" : "left alone";
}
