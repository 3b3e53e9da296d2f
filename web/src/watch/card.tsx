import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { figure, signed } from "../history/format";
import { HistoryPane } from "../history/pane";
import type { Entry, Environment, Result } from "../types";
import type { Watched } from "./watched";

interface Props {
  watched: Watched;
  environment: Environment;
  renderObservation: (result: Result, previous: Result | undefined) => ComponentChildren;
  onLeave: () => void;
}

/** One session that is looked at: what it saw last, and what it did. */
export function Card({ watched, environment, renderObservation, onLeave }: Props) {
  const id = useId();
  const [chosen, setChosen] = useState<Entry | null>(null);
  const [isOpen, setOpen] = useState(false);
  const { result, previous } = watched.newest.value;
  const skipped = watched.skipped.value;
  const isUnsure = watched.isUnsure.value;
  const last = watched.log.last;
  return (
    <section class="watch-card" aria-labelledby={id}>
      <div class="watch-bar">
        <h3 id={id}>Session {watched.id}</h3>
        {watched.isClosed.value && <span class="watch-badge">closed</span>}
        {(skipped > 0 || isUnsure) && (
          <span class="watch-badge watch-skipped">
            {skipped > 0 ? skipped.toLocaleString("en") : "some"}
            {isUnsure && skipped > 0 ? " or more" : ""} skipped
          </span>
        )}
        <button type="button" class="button" onClick={onLeave}>
          Leave
        </button>
      </div>
      <p class="watch-line">
        {last ? `Step ${last.step}, reward ${signed(last.result?.reward)}, total ${figure(last.total)}` : "Waiting…"}
      </p>
      {last?.error && <p class="watch-error">{last.error.message}</p>}
      <div class="watch-seen">
        {chosen?.result ? (
          <>
            <p class="watch-line">
              Step {chosen.step} of episode {chosen.episode}{" "}
              <button type="button" class="button" onClick={() => setChosen(null)}>
                Show the newest
              </button>
            </p>
            <Observation result={chosen.result} renderObservation={renderObservation} />
          </>
        ) : (
          result && <Observation result={result} previous={previous} renderObservation={renderObservation} />
        )}
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>History since it is watched</summary>
        {isOpen && (
          <div class="watch-history">
            <HistoryPane
              log={watched.log}
              environment={environment}
              selected={chosen}
              onSelect={setChosen}
              title={`What ${watched.id} did`}
            />
          </div>
        )}
      </details>
    </section>
  );
}

interface ObservationProps extends Pick<Props, "renderObservation"> {
  result: Result;
  previous?: Result | undefined;
}

function Observation({ result, previous, renderObservation }: ObservationProps) {
  const { omitted_bytes: omitted } = result.observation;
  if (typeof omitted !== "number") return <>{renderObservation(result, previous)}</>;
  return <p class="watch-line">The observation has {Math.ceil(omitted / 1024).toLocaleString("en")} KB: too much to be watched.</p>;
}
