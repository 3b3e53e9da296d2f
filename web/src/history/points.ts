import type { Entry } from "../types";

/** The line of the cumulative reward: entries' indices, and totals; null where the line is broken. */
interface Points {
  x: number[];
  y: (number | null)[];
}

const MOST = 2000;
const PER_BUCKET = 5;

/** The points of a history, at most 2,000: of more, each stretch's first, lowest, highest and last, and its gaps. */
export function pointsOf(entries: readonly Entry[]): Points {
  const all = entries.map(valueOf);
  const places = all.length <= MOST ? all.keys() : thinned(all);
  const points: Points = { x: [], y: [] };
  for (const place of places) {
    const entry = entries[place];
    if (!entry) continue;
    const breaks = entry.kind === "reset" && points.x.length > 0 && all.length <= MOST / 2;
    if (breaks) push(points, entry.index - 0.5, null);
    push(points, entry.index, all[place] ?? null);
  }
  return points;
}

/** The history's rewards in words. */
export function summaryOf(
  entries: readonly Entry[],
): Record<"episodes" | "steps" | "errors" | "total", number> {
  const episodes = new Set<number>();
  let steps = 0;
  let errors = 0;
  for (const entry of entries) {
    episodes.add(entry.episode);
    if (entry.error) errors += 1;
    else if (entry.kind === "step") steps += 1;
  }
  return { episodes: episodes.size, steps, errors, total: entries.at(-1)?.total ?? 0 };
}

function valueOf(entry: Entry): number | null {
  return entry.error ? null : entry.total;
}

function push({ x, y }: Points, at: number, value: number | null): void {
  x.push(at);
  y.push(value);
}

function* thinned(values: readonly (number | null)[]): Generator<number> {
  const size = Math.ceil(values.length / Math.floor(MOST / PER_BUCKET));
  for (let from = 0; from < values.length; from += size) {
    yield* told(values, from, Math.min(values.length, from + size));
  }
}

/** The places of a stretch that tell its course. */
function told(values: readonly (number | null)[], from: number, to: number): number[] {
  const places = new Set([from, to - 1]);
  let lowest = -1;
  let highest = -1;
  let gap = -1;
  for (let place = from; place < to; place += 1) {
    const value = values[place] ?? null;
    if (value === null) {
      gap = place;
      continue;
    }
    if (lowest < 0 || value < (values[lowest] ?? 0)) lowest = place;
    if (highest < 0 || value > (values[highest] ?? 0)) highest = place;
  }
  for (const place of [lowest, highest, gap]) if (place >= 0) places.add(place);
  return [...places].sort((one, other) => one - other);
}
