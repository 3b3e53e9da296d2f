import { type ReadonlySignal, type Signal, computed, signal } from "@preact/signals";
import { Log, type Outcome, placed } from "../history/log";
import type { Entry, Json, JsonObject, Result } from "../types";

/** A session of the server, in a few words. */
export interface Listed {
  id: string;
  episode_id: string | null;
  step_count: number;
  /** null: watching began after the episode's first step. */
  total_reward: number | null;
  done: boolean | null;
  busy: boolean;
  idle_s: number;
  since_s: number;
  held: boolean;
}

/** What a session did. */
export interface Happened {
  id: string;
  kind: "reset" | "step" | "state" | "closed" | "error";
  at: string;
  step_count: number;
  action: JsonObject | null;
  observation: JsonObject | null;
  reward: Json;
  done: boolean | null;
  latency_ms: number | null;
  error?: { code: string; message: string } | null;
}

interface Seen {
  result?: Result;
  previous?: Result;
}

const ENTRIES = 10_000;
const WEIGHT = 16 * 1024 * 1024;
const SAME_MS = 1000;

/** A session that is looked at: what it did since then. */
export class Watched {
  readonly log = new Log({ limit: ENTRIES, weight: WEIGHT });
  /** How many events were not told, as this page was too slow or not there. */
  readonly skipped: Signal<number> = signal(0);
  readonly isClosed: Signal<boolean> = signal(false);
  /** What was seen last, and before. */
  readonly newest: ReadonlySignal<Seen>;
  #seen: Seen = {};
  #resumed = true;

  constructor(readonly id: string) {
    this.newest = computed(() => {
      this.log.version.value; // as often as the log is shown
      return this.#seen;
    });
  }

  /** It is looked at again: the next event may be known already, and some may be missing before it. */
  resume(): void {
    this.#resumed = true;
  }

  /** Takes what it did. */
  take(event: Happened, listed: Listed | undefined): void {
    if (event.kind === "closed") this.isClosed.value = true;
    if (event.kind === "closed" || event.kind === "state") return;
    const last = this.log.last;
    const resumed = this.#resumed;
    this.#resumed = false;
    if (resumed && last && isKnown(event, last)) return;
    const begins = resumed && event.kind === "step" && last !== undefined && event.step_count <= last.step;
    if (resumed && last && !begins) this.skipped.value += missing(event, last);
    const entry = entryOf(event, last, begins);
    if (listed?.step_count === entry.step && listed.total_reward !== null) entry.total = listed.total_reward;
    this.log.append(entry);
    if (entry.result) this.#seen = { result: entry.result, ...(this.#seen.result && { previous: this.#seen.result }) };
  }
}

function entryOf(event: Happened, last: Entry | undefined, begins: boolean): Entry {
  const entry = placed(last, outcomeOf(event));
  const episode = Math.max(1, entry.episode + (begins ? 1 : 0));
  return { ...entry, episode, step: event.step_count, total: begins ? 0 : entry.total };
}

function outcomeOf(event: Happened): Outcome {
  const { at, error } = event;
  const kind = event.kind === "reset" ? "reset" : "step";
  const outcome = { kind, at, action: event.action ?? {}, latencyMs: event.latency_ms ?? 0 } as const;
  if (event.kind === "error") {
    const { code, message } = error ?? { code: "", message: "an error of which nothing is told" };
    return { ...outcome, error: { code, message, retryable: false, details: {}, faults: [] } };
  }
  const reward = typeof event.reward === "number" ? event.reward : null;
  return { ...outcome, result: { observation: event.observation ?? {}, reward, done: event.done === true } };
}

function isKnown(event: Happened, last: Entry): boolean {
  const apart = Math.abs(Date.parse(event.at) - Date.parse(last.at));
  return event.kind === last.kind && event.step_count === last.step && apart < SAME_MS;
}

function missing(event: Happened, last: Entry): number {
  return event.kind === "step" ? Math.max(0, event.step_count - last.step - 1) : 0;
}
