import type { Entry } from "../types";
import { brief, deed } from "./format";
import type { Log } from "./log";

/** Which entries are of interest. */
export interface Filter {
  text: string;
  only: "all" | "errors" | "rewards";
  /** null: all. */
  episode: number | null;
}

export const EVERYTHING: Filter = { text: "", only: "all", episode: null };
const SEARCHED = 4000;
const texts = new WeakMap<Entry, string>();

/** The entries of a log that a filter lets through, kept up to date by looking at the new ones alone. */
export class Shown {
  entries: Entry[] = [];
  #seen = 0;
  #era = -1;
  #filter = EVERYTHING;

  /** Looks at what is new; says how many entries went from the front. */
  refresh(log: Log, filter: Filter): number {
    if (filter !== this.#filter || log.era !== this.#era) {
      this.entries = [];
      this.#seen = log.appended - log.length;
    }
    this.#filter = filter;
    this.#era = log.era;
    const gone = this.#forget(log.length > 0 ? log.at(0).index : Number.POSITIVE_INFINITY);
    const fresh = Math.min(log.appended - this.#seen, log.length);
    const found: Entry[] = [];
    for (let place = log.length - fresh; place < log.length; place += 1) {
      const entry = log.at(place);
      if (passes(entry, filter)) found.push(entry);
    }
    this.#seen = log.appended;
    if (found.length > 0 || gone > 0) this.entries = [...this.entries, ...found];
    return gone;
  }

  #forget(oldest: number): number {
    let gone = 0;
    while (gone < this.entries.length && (this.entries[gone]?.index ?? oldest) < oldest) gone += 1;
    if (gone > 0) this.entries = this.entries.slice(gone);
    return gone;
  }
}

/** Whether a filter lets an entry through. */
export function passes(entry: Entry, { text, only, episode }: Filter): boolean {
  if (episode !== null && entry.episode !== episode) return false;
  if (only === "errors" && !entry.error) return false;
  if (only === "rewards" && !entry.result?.reward) return false;
  return text === "" || searched(entry).includes(text.toLowerCase());
}

/** What of an entry is searched: the beginning of each of its parts. */
function searched(entry: Entry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    const { result, error } = entry;
    const parts = [
      deed(entry, SEARCHED),
      brief(result?.observation ?? null, SEARCHED),
      error?.code,
      error?.message,
    ];
    text = parts.join("\n").toLowerCase();
    texts.set(entry, text);
  }
  return text;
}
