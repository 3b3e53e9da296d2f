import { duration, figure, signed } from "../figures";
import type { Entry } from "../types";
import { deed } from "./format";

interface Props {
  id: string;
  entry: Entry;
  height: number;
  /** Which of how many rows it is, from 0. */
  place: { at: number; of: number };
  /** Whether it is its episode's first row. */
  begins: boolean;
  isChosen: boolean;
  onChoose: (entry: Entry) => void;
}

/** One entry in one line. */
export function Row({ id, entry, height, place, begins, isChosen, onChoose }: Props) {
  const { result, error, kind } = entry;
  return (
    <div
      id={id}
      role="option"
      class={begins ? "history-row history-begins" : "history-row"}
      style={{ height: `${height}px` }}
      aria-selected={isChosen}
      aria-setsize={place.of}
      aria-posinset={place.at + 1}
      onClick={() => onChoose(entry)}
    >
      <span class="history-step">
        {!error && <Unseen>{kind === "reset" ? "episode " : "step "}</Unseen>}
        {error ? "–" : kind === "reset" ? `#${entry.episode}` : entry.step}
      </span>
      <span class="history-action">
        <span class="history-deed">
          {deed(entry)}
          {error && <span class="history-why"> {error.message}</span>}
        </span>
        {error && <span class="history-badge history-bad">error</span>}
        {result?.done && <span class="history-badge history-done">done</span>}
      </span>
      <span class="history-reward">
        {!error && <Unseen>reward </Unseen>}
        {!error && signed(result?.reward)}
      </span>
      <span class="history-total">
        <Unseen>total </Unseen>
        {figure(entry.total)}
      </span>
      <span class="history-latency">{duration(entry.latencyMs)}</span>
    </div>
  );
}

/** Words for those who hear a row, and see no columns. */
function Unseen({ children }: { children: string }) {
  return <span class="unseen">{children}</span>;
}
