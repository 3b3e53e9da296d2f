import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../types";
import { Row } from "./row";
import { type Span, drawn, isAtEnd, moved, topFor } from "./span";

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
  const { box, span, look, show, isFollowing } = useScrolling(entries, gone, row);
  const { place, activate } = useActive(entries, selected, show);
  const { from, to } = drawn(span, row, entries.length);
  const choose = (entry: Entry) => {
    activate(entry);
    onSelect(entry);
  };
  const page = Math.max(1, Math.floor(span.height / row) - 1);
  const onKeyDown = (event: KeyboardEvent) => press(event, { entries, place, page }, activate, choose);
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
            look={{ isSelected: entry.index === selected?.index, isActive: from + nth === place }}
            onChoose={choose}
          />
        ))}
      </Box>
      {!isFollowing && <NewestButton onClick={() => show(entries.length - 1)} />}
    </div>
  );
}

/** Where the keys lead: to another entry, or to what is seen of this one. */
function press(
  event: KeyboardEvent,
  { entries, place, page }: { entries: readonly Entry[]; place: number; page: number },
  activate: (entry: Entry) => void,
  choose: (entry: Entry) => void,
): void {
  const current = place < 0 ? entries.length - 1 : place;
  const next = moved(event.key, current, page, entries.length);
  const chooses = event.key === "Enter" || event.key === " ";
  const entry = entries[next ?? current];
  if (!entry || (next === undefined && !chooses)) return;
  event.preventDefault();
  if (chooses) choose(entry);
  else activate(entry);
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
      <span />
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

/** The row that the keys are at: the one they led to, or what was selected since, here or elsewhere. */
function useActive(entries: readonly Entry[], selected: Entry | null, show: (place: number) => void) {
  const [active, setActive] = useState<number | null>(null);
  const placeOf = (index: number | undefined) => entries.findIndex((entry) => entry.index === index);
  const activate = (entry: Entry) => {
    setActive(entry.index);
    const place = placeOf(entry.index);
    if (place >= 0) show(place);
  };
  useEffect(() => {
    if (selected) activate(selected);
  }, [selected?.index]);
  return { place: placeOf(active ?? undefined), activate };
}

/** Keeps the newest entry in sight while the end is, and else what is seen where it is. */
function useScrolling(entries: readonly Entry[], gone: number, row: number) {
  const box = useRef<HTMLDivElement>(null);
  const [span, setSpan] = useState<Span>({ top: 0, height: 0 });
  const [isFollowing, setFollowing] = useState(true);
  const look = () => {
    const seen = spanOf(box.current);
    setSpan(seen);
    setFollowing(isAtEnd(seen, row, entries.length));
  };
  const show = (place: number) => {
    box.current?.scrollTo({ top: topFor(place, spanOf(box.current), row) });
    look();
  };
  useLayoutEffect(() => {
    if (!box.current) return;
    if (isFollowing) box.current.scrollTop = box.current.scrollHeight;
    else if (gone > 0) box.current.scrollTop -= gone * row;
    setSpan(spanOf(box.current));
  }, [entries, row]);
  const latest = useRef({ isFollowing });
  latest.current = { isFollowing };
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (box.current && latest.current.isFollowing) box.current.scrollTop = box.current.scrollHeight;
      setSpan(spanOf(box.current));
    });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, span, look, show, isFollowing };
}

function spanOf(box: HTMLDivElement | null): Span {
  return { top: box?.scrollTop ?? 0, height: box?.clientHeight ?? 0 };
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
