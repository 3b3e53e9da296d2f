/** The episode that this tab plays: its session, its history, and what the panes show of them. */
import { batch, computed, signal } from "@preact/signals";
import { Log } from "./history/log";
import type { Entry, Environment, Fault, JsonObject, Result, WireError } from "./types";
import { asWireError } from "./wire/failure";
import type { Session } from "./wire/session";

/** One tab's episode. Calls never overlap: while one runs, `busy` is true and others are ignored. */
export class Desk {
  /** The newest entry, or null. */
  readonly newest = signal<Entry | null>(null);
  /** An older entry that is being looked at, or null: the newest is. */
  readonly selected = signal<Entry | null>(null);
  readonly shown = computed(() => this.selected.value ?? this.newest.value);
  readonly state = signal<JsonObject | null>(null);
  readonly stateError = signal<WireError | null>(null);
  readonly busy = signal(false);
  readonly faults = signal<Fault[]>([]);
  /** Whether the newest observation was the episode's last. */
  readonly over = computed(() => this.newest.value?.result?.done ?? false);
  /** Whether the episode that is shown is gone, and only a reset begins another. */
  readonly gone = computed(() => {
    const { phase } = this.session.status.value;
    if (phase === "lost") return true;
    return phase === "idle" && !this.session.exists && this.result.value !== null;
  });
  /** The newest result: what the next one is compared with, and whose buttons are shown. */
  readonly result = signal<Result | null>(null);

  constructor(
    readonly environment: Environment,
    readonly session: Session,
    readonly log: Log,
    readonly token?: string,
  ) {
    this.newest.value = this.log.last ?? null;
    for (let at = this.log.length - 1; at >= 0 && !this.result.value; at--) {
      this.result.value = this.log.at(at).result ?? null;
    }
  }

  /** Begins an episode. */
  async reset(kwargs: JsonObject = {}): Promise<void> {
    await this.once(() => this.play("reset", kwargs));
  }

  /** Takes a step; where no episode has begun yet, begins one first. */
  async step(action: JsonObject): Promise<void> {
    await this.once(async () => {
      const isFirst = !this.session.exists && (this.log.last?.episode ?? 0) === 0;
      if (isFirst && (await this.play("reset", {})).error) return;
      await this.play("step", action);
    });
  }

  /** Asks for the state anew. */
  async look(): Promise<void> {
    try {
      const state = await this.session.state();
      batch(() => {
        this.state.value = state;
        this.stateError.value = null;
      });
    } catch (error) {
      this.stateError.value = asWireError(error);
    }
  }

  /** Forgets the history that is shown; the episode goes on. */
  clear(): void {
    batch(() => {
      this.log.clear();
      this.selected.value = null;
      this.newest.value = null;
    });
  }

  private async once(work: () => Promise<unknown>): Promise<void> {
    if (this.busy.value) return;
    this.busy.value = true;
    try {
      await work();
    } finally {
      this.busy.value = false;
    }
  }

  private async play(kind: Entry["kind"], action: JsonObject): Promise<Entry> {
    const at = new Date().toISOString();
    const began = performance.now();
    let outcome: { result: Result } | { error: WireError };
    try {
      outcome = { result: await this.session[kind](action) };
    } catch (error) {
      outcome = { error: asWireError(error) };
    }
    const latencyMs = performance.now() - began;
    const entry = this.log.record({ kind, at, action, latencyMs, ...outcome });
    batch(() => {
      this.newest.value = entry;
      this.selected.value = null;
      this.faults.value = entry.error?.faults ?? [];
      if (entry.result) this.result.value = entry.result;
    });
    return entry;
  }
}
