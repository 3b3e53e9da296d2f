import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Entry } from "../types";
import { Row } from "./row";
import { useScrolling } from "./scrolling";
import { drawn, moved } from "./span";

const ROW = 32;
const TOUCHED_ROW = 44;
const TOUCHED = "(max-width: 640px), (pointer: coarse)";

interface Props {
  entries: readonly Entry[];
  /** How many entries went from the front since the last time. */
  gone: number;
  selected: Entry | null;
  onSelect: (entry: Entry) => void;
}

/** The entries as a list box, of which the rows that are seen are drawn. It follows the newest until it is scrolled. */
export function EntryList({ entries, gone, selected, onSelect }: Props) {
  const id = useId();
  const row = useRowHeight();
  const { chosen, choose } = useChosen(selected, onSelect);
  const place = entries.findIndex((entry) => entry.index === chosen);
  const { box, span, look, show, isFollowing } = useScrolling({ entries, gone, row, place });
  const { from, to } = drawn(span, row, entries.length);
  const page = Math.max(1, Math.floor(span.height / row) - 1);
  const onKeyDown = (event: KeyboardEvent) => press(event, { entries, place, page }, choose);
  const at = place >= from && place < to ? `${id}-${entries[place]?.index}` : undefined;
  return (
    <div class="history-list">
      <Columns />
      <Box {...{ box, at, onScroll: look, onKeyDown }} whole={entries.length * row} above={from * row}>
        {entries.slice(from, to).map((entry, nth) => (
          <Row
            key={entry.index}
            id={`${id}-${entry.index}`}
            entry={entry}
            height={row}
            place={{ at: from + nth, of: entries.length }}
            begins={entries[from + nth - 1]?.episode !== entry.episode}
            isChosen={from + nth === place}
            onChoose={choose}
          />
        ))}
      </Box>
      {!isFollowing && <NewestButton onClick={() => show(entries.length - 1)} />}
    </div>
  );
}

/** Chooses the entry that a key leads to. */
function press(
  event: KeyboardEvent,
  { entries, place, page }: { entries: readonly Entry[]; place: number; page: number },
  choose: (entry: Entry) => void,
): void {
  const current = place < 0 ? entries.length - 1 : place;
  const next = moved(event.key, current, page, entries.length);
  const entry = entries[next ?? current];
  if (!entry || (next === undefined && event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  choose(entry);
}

interface BoxProps {
  box: RefObject<HTMLDivElement>;
  /** The id of the row that the keys are at. */
  at: string | undefined;
  /** The height of all rows, and of those above the drawn ones. */
  whole: number;
  above: number;
  onScroll: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
  children: ComponentChildren;
}

function Box({ box, at, whole, above, onScroll, onKeyDown, children }: BoxProps) {
  return (
    <div
      ref={box}
      class="history-box"
      role="listbox"
      tabIndex={0}
      aria-label="Entries of the history"
      aria-activedescendant={at}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div role="presentation" style={{ height: `${whole}px` }}>
        <div role="presentation" style={{ transform: `translateY(${above}px)` }}>
          {children}
        </div>
      </div>
    </div>
  );
}

function Columns() {
  return (
    <div class="history-columns" aria-hidden="true">
      <span>step</span>
      <span>action</span>
      <span class="history-reward">reward</span>
      <span class="history-total">total</span>
      <span class="history-latency">time</span>
    </div>
  );
}

function NewestButton({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" class="button history-newest" onClick={onClick}>
      Jump to newest
    </button>
  );
}

/**
 * The chosen entry's index: here at once, and shown by the page in the next frame, as a key that is held down chooses
 * faster than entries can be shown.
 */
function useChosen(selected: Entry | null, onSelect: (entry: Entry) => void) {
  const [chosen, setChosen] = useState(selected?.index ?? null);
  const frame = useRef(0);
  const choose = (entry: Entry) => {
    setChosen(entry.index);
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      onSelect(entry);
    });
  };
  useEffect(() => {
    if (frame.current === 0) setChosen(selected?.index ?? null);
  }, [selected?.index]);
  useEffect(() => () => cancelAnimationFrame(frame.current), []);
  return { chosen, choose };
}

function useRowHeight(): number {
  const [isTouched, setTouched] = useState(() => matchMedia(TOUCHED).matches);
  useEffect(() => {
    const query = matchMedia(TOUCHED);
    const change = () => setTouched(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return isTouched ? TOUCHED_ROW : ROW;
}
