import { useEffect } from "preact/hooks";
import { earlier } from "../play/earlier";
import { actByKey } from "../play/quick_bar";
import { quickActions } from "../play/quick";
import type { Desk } from "../store";
import type { Entry } from "../types";
import { ObservationView } from "../view/observation";
import { Tree } from "../view/tree";
import { Failure } from "./notices";

interface Props {
  desk: Desk;
  keys: boolean;
}

/** What the environment showed last, or at the chosen entry of the history; the state beside it. */
export function ObservationPane({ desk, keys }: Props) {
  const entry = desk.shown.value;
  return (
    <section class="shell-pane shell-observation" aria-labelledby="observation-title">
      <div class="shell-heading">
        <h2 id="observation-title">Observation</h2>
        {desk.selected.value && (
          <p class="shell-older">
            of {entryName(desk.selected.value)}
            <button
              type="button"
              class="button"
              onClick={() => {
                desk.selected.value = null;
              }}
            >
              Back to the newest
            </button>
          </p>
        )}
      </div>
      {entry ? <Shown desk={desk} entry={entry} keys={keys} /> : <Empty />}
      <StatePanel desk={desk} />
    </section>
  );
}

function Shown({ desk, entry, keys }: { desk: Desk; entry: Entry; keys: boolean }) {
  const result = entry.result ?? (desk.selected.value ? undefined : desk.result.value);
  const onKey = (key: string) => {
    if (!keys || desk.busy.value) return;
    const buttons = quickActions(desk.environment.schemas.action, desk.result.value);
    actByKey(buttons, key, (action) => void desk.step(action));
  };
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

function StatePanel({ desk }: { desk: Desk }) {
  const newest = desk.newest.value;
  const state = desk.state.value;
  useEffect(() => {
    if (newest?.result) void desk.look();
  }, [newest, desk]);
  return (
    <details class="shell-details" open>
      <summary>State</summary>
      <div class="shell-state">
        {state ? <Tree value={state} /> : <p class="shell-muted">Known once an episode has begun.</p>}
        {desk.stateError.value && <Failure error={desk.stateError.value} />}
      </div>
    </details>
  );
}

/** What an entry of the history is called. */
export function entryName(entry: Entry): string {
  return entry.kind === "reset" ? `reset ${entry.episode}` : `step ${entry.step}`;
}
