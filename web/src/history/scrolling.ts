import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../types";
import { type Span, isAtEnd, topFor } from "./span";

interface Rows {
  entries: readonly Entry[];
  /** How many entries went from the front since the last time. */
  gone: number;
  /** The height of a row. */
  row: number;
  /** The chosen row, -1 for none. */
  place: number;
}

/** Keeps the chosen row in sight; without one the newest while the end is seen, and else what is seen. */
export function useScrolling(rows: Rows) {
  const { entries, row, place } = rows;
  const box = useRef<HTMLDivElement>(null);
  const [span, setSpan] = useState<Span>({ top: 0, height: 0 });
  const [isFollowing, setFollowing] = useState(true);
  const look = () => {
    const seen = spanOf(box.current);
    setSpan(seen);
    if (seen.height > 0) setFollowing(isAtEnd(seen, row, entries.length));
  };
  const show = (at: number) => {
    box.current?.scrollTo({ top: topFor(at, spanOf(box.current), row) });
    look();
  };
  const keep = () => {
    if (place >= 0) show(place);
    else if (isFollowing) show(entries.length - 1);
    else look();
  };
  const shift = useChanges(rows);
  useLayoutEffect(() => {
    const { gone, wasLet, isElsewhere } = shift();
    if (box.current && gone > 0 && (place >= 0 || !isFollowing)) box.current.scrollTop -= gone * row;
    if (wasLet) show(entries.length - 1);
    else if (isElsewhere) keep();
    else look();
  }, [entries, row, place]);
  useResized(box, keep);
  return { box, span, look, show, isFollowing };
}

/** Tells what became of the rows since it was last asked. */
function useChanges({ entries, gone, place }: Rows) {
  const known = useRef({ entries, place });
  return () => {
    const before = known.current;
    known.current = { entries, place };
    const lost = before.entries === entries ? 0 : gone;
    return {
      gone: lost,
      /** The chosen row is let go of. */
      wasLet: place < 0 && before.place >= 0,
      /** Another row is chosen, or it is at another place than the lost ones explain, or there is none. */
      isElsewhere: place < 0 || place !== before.place - lost,
    };
  };
}

function useResized(box: { current: HTMLDivElement | null }, keep: () => void): void {
  const latest = useRef(keep);
  latest.current = keep;
  useEffect(() => {
    const observer = new ResizeObserver(() => latest.current());
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
}

function spanOf(box: HTMLDivElement | null): Span {
  return { top: box?.scrollTop ?? 0, height: box?.clientHeight ?? 0 };
}
