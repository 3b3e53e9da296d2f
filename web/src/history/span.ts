/** Where a list of rows of one height stands. */
export interface Span {
  /** Pixels above what is seen. */
  top: number;
  /** Pixels that are seen. */
  height: number;
}

const BEYOND = 4;

/** The places that are drawn: those seen, and some on both sides. */
export function drawn(span: Span, row: number, count: number): { from: number; to: number } {
  const from = Math.max(0, Math.min(count, Math.floor(span.top / row)) - BEYOND);
  return { from, to: Math.min(count, Math.ceil((span.top + span.height) / row) + BEYOND) };
}

/** The nearest top at which a place is wholly seen. */
export function topFor(place: number, span: Span, row: number): number {
  const highest = place * row;
  const lowest = highest + row - span.height;
  return Math.max(0, Math.min(highest, Math.max(lowest, span.top)));
}

/** Whether the end is seen, give or take a row. */
export function isAtEnd(span: Span, row: number, count: number): boolean {
  return span.top + span.height >= (count - 1) * row;
}

/** Where a key leads from a place; undefined if it leads nowhere. */
export function moved(key: string, place: number, page: number, count: number): number | undefined {
  const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page };
  const ends: Record<string, number> = { Home: 0, End: count - 1 };
  const wanted = ends[key] ?? (steps[key] === undefined ? undefined : place + steps[key]);
  return wanted === undefined ? undefined : Math.max(0, Math.min(count - 1, wanted));
}
