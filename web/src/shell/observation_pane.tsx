import { nameOf } from "../history/format";
import { earlier } from "../play/earlier";
import type { Desk } from "../store";
import type { Entry } from "../types";
import { ObservationView } from "../view/observation";
import { Failure } from "./notices";

interface Props {
  desk: Desk;
  onKey: (key: string) => void;
}

/** What the environment showed last, or at the chosen entry of the history. */
export function ObservationPane({ desk, onKey }: Props) {
  const entry = desk.shown.value;
  const isStale = desk.session.status.value.phase === "lost" && !desk.selected.value;
  return (
    <section
      class={isStale ? "shell-pane shell-observation shell-stale" : "shell-pane shell-observation"}
      aria-labelledby="observation-title"
    >
      <div class="shell-heading">
        <h2 id="observation-title">Observation</h2>
        {desk.selected.value && (
          <p class="shell-older">
            {nameOf(desk.selected.value)}
            <button
              type="button"
              class="button"
              onClick={() => {
                desk.selected.value = null;
              }}
            >
              Back to playing
            </button>
          </p>
        )}
      </div>
      {entry ? <Shown desk={desk} entry={entry} onKey={onKey} /> : <Empty />}
    </section>
  );
}

function Shown({ desk, entry, onKey }: Props & { entry: Entry }) {
  const result = entry.result ?? (desk.selected.value ? undefined : desk.result.value);
  return (
    <>
      {desk.selected.value && entry.error && <Failure error={entry.error} />}
      {result && (
        <ObservationView
          result={result}
          previous={earlier(desk.log, entry)}
          schema={desk.environment.schemas.observation}
          onKey={onKey}
        />
      )}
    </>
  );
}

function Empty() {
  return (
    <div class="shell-empty">
      <p>
        <strong>No episode yet.</strong>
      </p>
      <p>Reset begins one. It is yours alone: other visitors and trainers have their own.</p>
    </div>
  );
}
