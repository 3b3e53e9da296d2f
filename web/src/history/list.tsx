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
  const { box, span, look, go, isFollowing } = useScrolling(entries, gone, row);
  const [active, setActive] = useState<number | null>(null);
  const place = entries.findIndex((entry) => entry.index === (active ?? selected?.index));
  const { from, to } = drawn(span, row, entries.length);
  const onKeyDown = (event: KeyboardEvent) => {
    const current = place < 0 ? entries.length - 1 : place;
    const next = moved(event.key, current, Math.max(1, Math.floor(span.height / row) - 1), entries.length);
    const chosen = entries[next ?? current];
    const chooses = event.key === "Enter" || event.key === " ";
    if (!chosen || (next === undefined && !chooses)) return;
    event.preventDefault();
    setActive(chosen.index);
    go(topFor(next ?? current, span, row));
    if (chooses) onSelect(chosen);
  };
  const choose = (entry: Entry) => {
    setActive(entry.index);
    onSelect(entry);
  };
  return (
    <div class="history-list">
      <div class="history-columns" aria-hidden="true">
        <span>step</span>
        <span>action</span>
        <span class="history-reward">reward</span>
        <span class="history-total">total</span>
        <span />
        <span class="history-latency">time</span>
      </div>
      <div
        ref={box}
        class="history-box"
        role="listbox"
        tabIndex={0}
        aria-label="Entries of the history"
        aria-activedescendant={place >= from && place < to ? `${id}-${entries[place]?.index}` : undefined}
        onScroll={look}
        onKeyDown={onKeyDown}
      >
        <div role="presentation" style={{ height: `${entries.length * row}px` }}>
          <div role="presentation" style={{ transform: `translateY(${from * row}px)` }}>
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
          </div>
        </div>
      </div>
      {!isFollowing && (
        <button type="button" class="button history-newest" onClick={() => go(Number.POSITIVE_INFINITY)}>
          Jump to newest
        </button>
      )}
    </div>
  );
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
  const go = (top: number) => {
    box.current?.scrollTo({ top: Math.min(top, box.current.scrollHeight) });
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
  return { box, span, look, go, isFollowing };
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
