/**
 * A visitor's own session, whatever becomes of its sockets. It begins with the first action. What
 * is lost is told, and only a reset begins another: a step never runs in a fresh environment.
 */
import { signal as signalOf, type Signal } from "@preact/signals";
import type { JsonObject, Phase, Result, Status } from "../types";
import { baseAddress } from "./address";
import { Exchange, type Events } from "./exchange";
import { cancelled, codeOf, failure, lost, messageOf, type WireFailure } from "./failure";
import { KeptSession } from "./kept_session";
import { connecting, type Connect } from "./link";
import { ABANDONED_MS, deadlineMs, graceMs, IDLE_MS, pause, pauseMs, QUEUE_S } from "./patience";
import * as texts from "./texts";
import { V1 } from "./v1";
import { V2 } from "./v2";
import { resultOf, type Op, type Word } from "./words";

/** Whose session it is. */
export interface SessionOptions {
  page: URL;
  token?: string | undefined;
  /** How to connect, and what survives a reload; the browser's ways unless told otherwise. */
  connect?: Connect;
  keeping?: { session: Ticketing };
}

/** Where a session is kept over a reload. */
export type Ticketing = Pick<KeptSession, "copied" | "read" | "write" | "forget">;

/** How many sessions a reset may lose before they have begun. */
const MAX_BEGINNINGS = 3;
const OPEN_MS = 60_000;
/** Refusals that another attempt does not change. */
const FINAL = new Set(["CANCELLED", "UNAUTHORIZED", "CONTROL_CLOSED", "SESSION_LOST"]);
/** What stands in the way of a session that there never was. */
const NOT_BEGUN = new Set(["CAPACITY_REACHED", "FACTORY_ERROR", "CONTROL_CLOSED"]);
const REFUSALS = new Set(["UNREACHABLE", "NOT_OPENED", "UNAUTHORIZED", "REFUSED", "CONTROL_CLOSED"]);

/** One session over one socket after another. */
export class Session {
  /** Where it stands. */
  readonly status: Signal<Status> = signalOf<Status>({ phase: "idle", message: texts.FIRST });
  #connect: Connect;
  #kept: Ticketing;
  #talk: V1 | V2 | null;
  #exchange: Exchange | null = null;
  /** Why there is no episode to go on with; only a reset begins another. */
  #lost: string | null = null;
  #cutAt: number | null = null;
  /** Whether it was the page that let go of the socket. */
  #resting = false;
  #leaving = new AbortController();
  #turn: Promise<unknown> = Promise.resolve();
  #rest: ReturnType<typeof setTimeout> | undefined;
  #wake: () => void = () => undefined;
  #disposed = new AbortController();

  constructor(options: SessionOptions) {
    this.#connect = options.connect ?? connecting(options.page, options.token);
    this.#kept = options.keeping?.session ?? new KeptSession(baseAddress(options.page).href);
    const ticket = this.#kept.read();
    this.#talk = ticket && new V2(ticket);
    if (ticket && this.#kept.copied) this.#lose(texts.COPY, "copied");
    else if (ticket) this.#restOn();
    this.#listen();
  }

  /** Whether there is an episode that an action goes on with, as far as is known. */
  get exists(): boolean {
    return this.#talk !== null;
  }

  /** Begins an episode, in a new session if there is none. */
  async reset(kwargs: JsonObject): Promise<Result> {
    return resultOf(await this.#call("reset", kwargs));
  }

  /** Takes an action. */
  async step(action: JsonObject): Promise<Result> {
    return resultOf(await this.#call("step", action));
  }

  /** Where the episode stands. */
  async state(): Promise<JsonObject> {
    return this.#call("state", {});
  }

  /** Comes back at once to a session that was kept over a reload; `status` tells what became of it. */
  async resume(): Promise<void> {
    await this.#inTurn((signal) => this.#return(signal)).catch((error) => this.#tell(error));
    this.#restLater();
  }

  /** Ends the session, whatever runs in it, or leaves the server's queue. */
  async leave(): Promise<void> {
    const had = this.#talk;
    this.#leaving.abort(cancelled());
    this.#leaving = new AbortController();
    this.#drop(had instanceof V2 ? had.close() : undefined);
    this.#forget();
    if (had) this.#lost = texts.LEFT;
    this.#say("idle", had ? lost(texts.LEFT).message : texts.FIRST);
  }

  /** Lets go of everything but the server's session: another object goes on with it. */
  dispose(): void {
    this.#disposed.abort();
    this.#leaving.abort(cancelled());
    this.#drop();
  }

  #call(op: Op, data: JsonObject): Promise<JsonObject> {
    clearTimeout(this.#rest);
    return this.#inTurn(async (signal) => {
      try {
        return await this.#persist(op, data, signal);
      } catch (error) {
        this.#tell(error);
        throw error;
      } finally {
        this.#restLater();
      }
    });
  }

  /** One after another; who leaves ends all that wait. */
  #inTurn<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#leaving;
    const turn = this.#turn.then(() => {
      signal.throwIfAborted();
      return run(signal);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /** Calls; tries again where nothing was asked yet, and a reset where the session was lost. */
  async #persist(op: Op, data: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    for (let beginnings = 1; ; beginnings++) {
      try {
        await this.#attach(op, signal);
        return await this.#ask(op, data, signal);
      } catch (error) {
        const code = codeOf(error);
        const again = code === "NOT_OPENED" || (op === "reset" && code === "SESSION_LOST");
        if (!again || beginnings >= MAX_BEGINNINGS) throw error;
      }
    }
  }

  async #attach(op: Op, signal: AbortSignal): Promise<void> {
    if (op !== "reset" && this.#lost !== null) throw lost(this.#lost);
    if (op === "state" && !this.#talk) {
      throw failure("NO_EPISODE", "There is no episode yet. Reset begins one.");
    }
    if (this.#talk) await this.#return(signal);
    else await this.#begin(signal);
  }

  async #begin(signal: AbortSignal): Promise<void> {
    this.#say("connecting", texts.CONNECTING);
    const exchange = await this.#over((protocol) => (protocol === "v1" ? new V1() : new V2()), signal);
    const talk = exchange.talk;
    if (talk instanceof V2) {
      const word = await exchange.hear(talk.open(QUEUE_S), QUEUE_S * 1000 + OPEN_MS, signal);
      if (word?.kind !== "opened") throw notOpened(word);
      this.#refuse(signal, exchange, talk);
    }
    this.#talk = talk;
    this.#resting = false;
    this.#keep();
  }

  #keep(): void {
    if (this.#talk instanceof V2 && this.#talk.ticket) this.#kept.write(this.#talk.ticket);
  }

  /** Gives a session back that came when its visitor had left. */
  #refuse(signal: AbortSignal, exchange: Exchange, talk: V2): void {
    if (signal.aborted) exchange.close(talk.close());
    signal.throwIfAborted();
  }

  /** Comes back to the session if its socket is gone. Rejects if that can't be, and it is lost. */
  async #return(signal: AbortSignal): Promise<void> {
    const talk = this.#talk;
    if (!(talk instanceof V2) || !talk.ticket || this.#exchange?.alive) return;
    const until = (this.#cutAt ?? Date.now()) + graceMs(talk.limits);
    for (let attempt = 0; ; attempt++) {
      if (!this.#resting) this.#say("reconnecting", texts.BROKEN);
      else if (attempt === 0) this.#say("connecting", texts.RETURNING);
      if (await this.#returned(talk, signal)) break;
      if (Date.now() >= until) throw this.#lose(texts.UNREACHED);
      this.#resting = false;
      await this.#nextAttempt(attempt, signal);
    }
    signal.throwIfAborted();
    this.#cutAt = null;
    this.#resting = false;
    this.#keep();
    this.#say("open", texts.OPEN);
  }

  /** One attempt to come back; `false` if another may succeed. */
  async #returned(talk: V2, signal: AbortSignal): Promise<boolean> {
    try {
      const exchange = await this.#over((protocol) => {
        if (protocol === "v1") throw this.#lose(texts.ANEW);
        return talk;
      }, signal);
      const word = await exchange.hear(talk.open(0), OPEN_MS, signal);
      if (word?.kind === "failed" || word?.kind === "ended") throw this.#notThere(word.failure);
      return word !== null;
    } catch (error) {
      this.#drop();
      if (FINAL.has(codeOf(error))) throw error;
      return false;
    }
  }

  #notThere(told: WireFailure): WireFailure {
    if (codeOf(told) !== "SESSION_GONE") return this.#lose(this.#why(told));
    return this.#lose(this.#resting ? texts.GIVEN_AWAY : texts.ANEW);
  }

  async #nextAttempt(attempt: number, signal: AbortSignal): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([pause(pauseMs(attempt, Math.random()), signal), woken]);
  }

  async #ask(op: Op, data: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const talk = this.#talk;
    if (!talk) throw lost(this.#lost ?? texts.ANEW);
    const frame = talk.ask(op, data);
    this.#keep();
    const limit = talk instanceof V2 ? deadlineMs(op, talk.limits) : null;
    for (;;) {
      if (op !== "state") this.#say("busy", texts.BUSY);
      const word = await this.#heard(frame, limit, signal);
      if (word) return this.#answer(word);
      if (talk instanceof V1) throw this.#lose(texts.BROKEN_FOR_GOOD);
      this.#cutAt ??= Date.now();
      await this.#return(signal);
    }
  }

  async #heard(frame: string, limit: number | null, signal: AbortSignal): Promise<Word | null> {
    try {
      return (await this.#exchange?.hear(frame, limit, signal)) ?? null;
    } catch (error) {
      if (this.#talk instanceof V1) throw this.#lose(messageOf(error));
      if (this.#talk instanceof V2) this.#talk.abandon();
      this.#drop(); // the next action comes back, and learns what was carried out
      throw error;
    }
  }

  #answer(word: Word): JsonObject {
    if (word.kind === "result") {
      this.#lost = null;
      this.#say("open", texts.OPEN);
      return word.data;
    }
    if (word.kind === "ended") throw this.#lose(this.#why(word.failure));
    if (word.kind !== "failed") throw failure("PROTOCOL_ERROR", "The server answered beside the point.");
    if (NOT_BEGUN.has(codeOf(word.failure))) this.#forget();
    else if (word.ends) this.#lose(this.#why(word.failure));
    throw word.failure;
  }

  #over(talkOver: (protocol: "v1" | "v2") => V1 | V2, signal: AbortSignal): Promise<Exchange> {
    signal.throwIfAborted();
    this.#drop();
    const events: Events = {
      queued: (position, waiting) => this.#queued(position, waiting),
      ended: (told) => void this.#lose(this.#why(told)),
      cut: () => this.#cut(),
    };
    return Exchange.over(this.#connect, talkOver, events, signal).then((exchange) => {
      if (signal.aborted) exchange.close();
      signal.throwIfAborted();
      this.#exchange = exchange;
      return exchange;
    });
  }

  /** The socket broke while nothing was asked. */
  #cut(): void {
    this.#cutAt = Date.now();
    if (this.#talk instanceof V1) this.#lose(texts.BROKEN_FOR_GOOD);
    else void this.resume();
  }

  #queued(position: number, waiting: number): void {
    this.#say("queued", texts.queued(position, waiting));
  }

  /** Frees the slot of a visitor who does nothing. */
  #restLater(): void {
    clearTimeout(this.#rest);
    const talk = this.#talk;
    if (!talk || !this.#exchange?.alive) return;
    const resumable = talk instanceof V2 && graceMs(talk.limits) > 0;
    this.#rest = setTimeout(() => this.#letGo(resumable), resumable ? IDLE_MS : ABANDONED_MS);
  }

  #letGo(resumable: boolean): void {
    if (!resumable) {
      this.#lose(texts.ABANDONED);
      return;
    }
    this.#drop();
    this.#cutAt = Date.now();
    this.#restOn();
  }

  #restOn(): void {
    this.#resting = true;
    this.#say("idle", texts.LET_GO);
  }

  #why(told: WireFailure): string {
    const { code, message } = told.error;
    if (code === "TAKEN_OVER") return texts.TAKEN_OVER;
    return code === "SESSION_GONE" ? `The server ended your episode: ${message}` : message;
  }

  /** The episode is gone, or another's; gives the failure that says so. */
  #lose(why: string, phase: Phase = "lost"): WireFailure {
    const failure = lost(why);
    this.#drop();
    this.#forget();
    this.#lost = why;
    this.#say(phase, failure.message);
    return failure;
  }

  #forget(): void {
    clearTimeout(this.#rest);
    this.#talk = null;
    this.#cutAt = null;
    this.#resting = false;
    this.#kept.forget();
  }

  #drop(farewell?: string): void {
    this.#exchange?.close(farewell);
    this.#exchange = null;
  }

  /** Shows a failure in the status, as far as it is one of the session. */
  #tell(error: unknown): void {
    const code = codeOf(error);
    if (!this.#talk) this.#drop();
    if (code === "CANCELLED" || code === "SESSION_LOST") return;
    if (code === "CAPACITY_REACHED") this.#say("full", messageOf(error));
    else if (REFUSALS.has(code)) this.#say("refused", messageOf(error));
    else if (this.#exchange) this.#say("open", texts.OPEN);
    else if (this.#talk) this.#say("idle", texts.LET_GO);
    else if (this.status.value.phase !== "lost") this.#say("idle", messageOf(error));
  }

  #say(phase: Phase, message: string): void {
    this.status.value = { phase, message };
  }

  #listen(): void {
    const { signal } = this.#disposed;
    const stir = (): void => {
      this.#wake();
      this.#exchange?.probe();
    };
    for (const event of ["online", "offline", "pageshow"]) {
      globalThis.addEventListener?.(event, stir, { signal });
    }
    globalThis.document?.addEventListener("visibilitychange", stir, { signal });
  }
}

function notOpened(word: Word | null): WireFailure {
  if (word?.kind === "failed" || word?.kind === "ended") return word.failure;
  return failure("NOT_OPENED", "The connection broke before there was a session.", true);
}
