import { type ReadonlySignal, type Signal, computed, signal } from "@preact/signals";
import { Log, type Outcome, type Schedule, placed } from "../history/log";
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
  playing: boolean;
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
  /** Of the episode; null or missing where the server does not know. */
  total_reward?: number | null;
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
/** A trainer's steps are faster than eyes. */
const SHOWN_EVERY_MS = 100;
const seldom: Schedule = (show) => void setTimeout(() => requestAnimationFrame(show), SHOWN_EVERY_MS);

/** A session that is looked at: what it did since then. */
export class Watched {
  readonly log = new Log({ limit: ENTRIES, weight: WEIGHT }, seldom);
  /** How many events were not told, as this page was too slow or not there; at least so many where `isUnsure`. */
  readonly skipped: Signal<number> = signal(0);
  readonly isUnsure: Signal<boolean> = signal(false);
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
  take(event: Happened): void {
    if (event.kind === "closed") this.isClosed.value = true;
    if (event.kind === "closed" || event.kind === "state") return;
    const last = this.log.last;
    const isBack = this.#resumed && last !== undefined;
    this.#resumed = false;
    if (isBack && isKnown(event, last)) return;
    const isOther = isBack && event.kind === "step" && event.step_count <= last.step;
    if (isBack) this.#miss(event, last, isOther);
    const entry = entryOf(event, last, isOther);
    this.log.append(entry);
    if (entry.result)
      this.#seen = { result: entry.result, ...(this.#seen.result && { previous: this.#seen.result }) };
  }

  #miss(event: Happened, last: Entry, isOther: boolean): void {
    if (isOther || event.kind === "reset") this.isUnsure.value = true;
    else this.skipped.value += Math.max(0, event.step_count - last.step - 1);
  }
}

/** The entry of an event. `isOther`: of a later episode, whose reset was not told. */
function entryOf(event: Happened, last: Entry | undefined, isOther: boolean): Entry {
  const entry = placed(last, outcomeOf(event));
  const summed = isOther ? entry.total - (last?.total ?? 0) : entry.total;
  return {
    ...entry,
    episode: Math.max(1, entry.episode + (isOther ? 1 : 0)),
    step: event.step_count,
    total: event.total_reward ?? summed,
  };
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
