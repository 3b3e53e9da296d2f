import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { figure, signed, thousands } from "../figures";
import { nameOf } from "../history/format";
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
  const last = watched.log.last;
  const did = { log: watched.log, environment, title: "What it did" };
  return (
    <section class="watch-card" aria-labelledby={id}>
      <div class="watch-bar">
        <h3 id={id}>Session {watched.id}</h3>
        <Badges watched={watched} />
        <button type="button" class="button" onClick={onLeave}>
          Leave
        </button>
      </div>
      <p class="watch-line">
        {last
          ? `Step ${last.step}, reward ${signed(last.result?.reward)}, total ${figure(last.total)}`
          : "Waiting…"}
      </p>
      {last?.error && <p class="watch-error">{last.error.message}</p>}
      <div class="watch-seen" role="group" aria-label="What it saw" tabIndex={0}>
        {chosen && <ChosenLine entry={chosen} onNewest={() => setChosen(null)} />}
        {chosen?.result ? (
          <Observation result={chosen.result} renderObservation={renderObservation} />
        ) : (
          result && <Observation result={result} previous={previous} renderObservation={renderObservation} />
        )}
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>History since it is watched</summary>
        {isOpen && <HistoryPane {...did} selected={chosen} onSelect={setChosen} />}
      </details>
    </section>
  );
}

function Badges({ watched }: { watched: Watched }) {
  const skipped = watched.skipped.value;
  const isUnsure = watched.isUnsure.value;
  return (
    <>
      {watched.isClosed.value && <span class="watch-badge">closed</span>}
      {(skipped > 0 || isUnsure) && (
        <span class="watch-badge watch-skipped">
          {skipped > 0 ? thousands(skipped) : "some"}
          {isUnsure && skipped > 0 ? " or more" : ""} skipped
        </span>
      )}
    </>
  );
}

function ChosenLine({ entry, onNewest }: { entry: Entry; onNewest: () => void }) {
  return (
    <p class="watch-line">
      {nameOf(entry)}{" "}
      <button type="button" class="button" onClick={onNewest}>
        Show the newest
      </button>
    </p>
  );
}

interface ObservationProps extends Pick<Props, "renderObservation"> {
  result: Result;
  previous?: Result | undefined;
}

function Observation({ result, previous, renderObservation }: ObservationProps) {
  const { omitted_bytes: omitted } = result.observation;
  if (typeof omitted !== "number") return <>{renderObservation(result, previous)}</>;
  const size = thousands(Math.ceil(omitted / 1024));
  return <p class="watch-line">The observation has {size} KB: too much to be watched.</p>;
}
