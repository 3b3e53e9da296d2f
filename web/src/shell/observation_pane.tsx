import { useEffect } from "preact/hooks";
import { TokenForm } from "../form/token_form";
import { nameOf } from "../history/format";
import { earlier } from "../play/earlier";
import type { Desk } from "../store";
import type { Entry } from "../types";
import { ObservationView } from "../view/observation";
import { Failure } from "./failure";

/** Errors that a token mends. */
const LOCKED = new Set(["UNAUTHORIZED", "CONTROL_CLOSED"]);

interface Props {
  desk: Desk;
  onKey: (key: string) => void;
  onToken: (token: string) => void;
}

/** What the environment showed last, or at the chosen entry of the history. */
export function ObservationPane({ desk, onKey, onToken }: Props) {
  const selected = desk.selected.value;
  const entry = desk.shown.value;
  const result = entry?.result ?? (selected ? undefined : desk.result.value);
  const isStale = desk.gone.value && !selected;
  const isLocked = !selected && LOCKED.has(desk.newest.value?.error?.code ?? "");
  return (
    <section
      class={isStale ? "shell-pane shell-observation shell-stale" : "shell-pane shell-observation"}
      aria-labelledby="observation-title"
    >
      <div class="shell-heading">
        <h2 id="observation-title">Observation</h2>
        {selected && <Older desk={desk} entry={selected} />}
      </div>
      {isLocked && (
        <TokenForm
          title="This server asks for a token"
          label="Token"
          submitLabel="Go on"
          refusal={desk.token ? "The one that was given does not do." : ""}
          onToken={onToken}
        >
          {desk.newest.value?.error?.message}
        </TokenForm>
      )}
      {selected?.error && <Failure error={selected.error} />}
      {entry && result && (
        <ObservationView
          result={result}
          previous={earlier(desk.log, entry)}
          schema={desk.environment.schemas.observation}
          onKey={onKey}
        />
      )}
      {!result && !isLocked && !selected && <Empty />}
    </section>
  );
}

/** Which older entry is looked at, its neighbours, and the way back; Escape is one, too. */
function Older({ desk, entry }: { desk: Desk; entry: Entry }) {
  const turnTo = (next: Entry | null) => {
    desk.selected.value = next;
  };
  useEffect(() => {
    const escaped = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) turnTo(null);
    };
    window.addEventListener("keydown", escaped);
    return () => window.removeEventListener("keydown", escaped);
  }, [desk]);
  const before = desk.log.find(entry.index - 1);
  const after = desk.log.find(entry.index + 1);
  return (
    <p class="shell-older">
      <button
        type="button"
        class="button"
        aria-label="Earlier"
        aria-disabled={!before}
        onClick={() => before && turnTo(before)}
      >
        ‹
      </button>
      {nameOf(entry)}
      <button
        type="button"
        class="button"
        aria-label="Later"
        aria-disabled={!after}
        onClick={() => after && turnTo(after)}
      >
        ›
      </button>
      <button type="button" class="button" title="Escape" onClick={() => turnTo(null)}>
        Back to playing
      </button>
    </p>
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
