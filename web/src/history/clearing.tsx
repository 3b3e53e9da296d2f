import { counted } from "../figures";

interface Props {
  count: number;
  onClear: () => void;
  onDone: () => void;
}

/** Asks before the history is cleared; what does no harm is at hand. */
export function ClearQuestion({ count, onClear, onDone }: Props) {
  const clear = () => {
    onClear();
    onDone();
  };
  return (
    <>
      <p class="history-count" role="alert">
        Clear {counted(count, "entry", "entries")}? The episode goes on.
      </p>
      <div class="history-buttons" onKeyDown={(event) => event.key === "Escape" && onDone()}>
        <button type="button" class="button" ref={focused} onClick={onDone}>
          Keep
        </button>
        <button type="button" class="button history-bad" onClick={clear}>
          Clear
        </button>
      </div>
    </>
  );
}

function focused(button: HTMLButtonElement | null): void {
  button?.focus();
}
