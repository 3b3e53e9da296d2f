import { signal, type Signal } from "@preact/signals";
import type { Entry } from "../types";
import { weightOf } from "./weight";

/** What one call gave, before it has its place in a history. */
export type Outcome = Omit<Entry, "index" | "episode" | "step" | "total">;

/** Says when a change is to be shown: at the next frame, in a browser. */
export type Schedule = (show: () => void) => void;

/** How much a history keeps. */
export interface Bounds {
  /** Entries. */
  limit?: number;
  /** About how many bytes of memory. */
  weight?: number;
}

const LIMIT = 10_000;
const WEIGHT = 256 * 1024 * 1024;
const byFrame: Schedule = (show) => void requestAnimationFrame(show);

/** A history: what was done and what came of it, oldest first; it forgets the oldest when there is too much. */
export class Log {
  /** Changes when the history has, at most once a frame. */
  readonly version: Signal<number> = signal(0);
  readonly limit: number;
  /** How many entries were forgotten since the history was last cleared. */
  dropped = 0;
  /** How many entries were ever appended. */
  appended = 0;
  /** How often the history was cleared. */
  era = 0;
  #ring: ({ entry: Entry; weight: number } | undefined)[] = [];
  #oldest = 0;
  #length = 0;
  #weight = 0;
  readonly #most: number;
  #newest: Entry | undefined;
  #announced = false;
  readonly #schedule: Schedule;

  constructor({ limit = LIMIT, weight = WEIGHT }: Bounds = {}, schedule: Schedule = byFrame) {
    this.limit = limit;
    this.#most = weight;
    this.#schedule = schedule;
  }

  /** How many entries there are. */
  get length(): number {
    return this.#length;
  }

  /** The newest entry. */
  get last(): Entry | undefined {
    return this.length > 0 ? this.at(this.length - 1) : undefined;
  }

  /** The entry at a place, 0 being the oldest that is kept. */
  at(place: number): Entry {
    const kept = place < this.length ? this.#ring[(this.#oldest + place) % this.limit] : undefined;
    if (kept === undefined) throw new RangeError(`the history has no entry ${place}, only ${this.length}`);
    return kept.entry;
  }

  /** The entry of an index, if it is kept. */
  find(index: number): Entry | undefined {
    let from = 0;
    let to = this.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.at(middle).index < index) from = middle + 1;
      else to = middle;
    }
    const found = from < this.length ? this.at(from) : undefined;
    return found?.index === index ? found : undefined;
  }

  /** The entries of an episode, oldest first. */
  episode(number: number): Entry[] {
    return [...this].filter((entry) => entry.episode === number);
  }

  /** Appends what a call gave, numbered after what came before. */
  record(outcome: Outcome): Entry {
    const entry = placed(this.#newest, outcome);
    this.append(entry);
    return entry;
  }

  /** Appends an entry that has its numbers already; they ascend. */
  append(entry: Entry): void {
    const weight = weightOf(entry);
    while (this.length > 0 && (this.length >= this.limit || this.#weight + weight > this.#most))
      this.#forget();
    this.#ring[(this.#oldest + this.#length) % this.limit] = { entry, weight };
    this.#length += 1;
    this.#weight += weight;
    this.#newest = entry;
    this.appended += 1;
    this.#announce();
  }

  /** Forgets all entries. The next one is numbered as if it had not. */
  clear(): void {
    this.#ring = [];
    this.#oldest = this.#length = this.#weight = this.dropped = 0;
    this.era += 1;
    this.#announce();
  }

  *[Symbol.iterator](): Iterator<Entry> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place);
  }

  #forget(): void {
    this.#weight -= this.#ring[this.#oldest]?.weight ?? 0;
    this.#ring[this.#oldest] = undefined;
    this.#oldest = (this.#oldest + 1) % this.limit;
    this.#length -= 1;
    this.dropped += 1;
  }

  #announce(): void {
    if (this.#announced) return;
    this.#announced = true;
    this.#schedule(() => {
      this.#announced = false;
      this.version.value += 1;
    });
  }
}

/** An outcome as the entry after `last`. A reset that failed begins no episode, and a step that failed is none. */
export function placed(last: Entry | undefined, outcome: Outcome): Entry {
  const counts = outcome.error === undefined;
  const begins = outcome.kind === "reset" && counts;
  const reward = outcome.result?.reward;
  return {
    ...outcome,
    index: last ? last.index + 1 : 0,
    episode: (last?.episode ?? 0) + (begins ? 1 : 0),
    step: begins ? 0 : (last?.step ?? 0) + (outcome.kind === "step" && counts ? 1 : 0),
    total: (begins ? 0 : (last?.total ?? 0)) + (Number.isFinite(reward) ? Number(reward) : 0),
  };
}
