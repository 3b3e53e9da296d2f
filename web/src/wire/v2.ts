/**
 * Wire v2, without a socket: a session that outlives its sockets, and in which each request is
 * carried out once. A request that was not answered is asked again with its number on the next.
 */
import { isObject } from "../json";
import type { JsonObject } from "../types";
import { ENDING_CODES, failure, failureOf, WireFailure } from "./failure";
import { parsed, type Op, type Word } from "./words";

/** What it takes to come back to a session. */
export interface Ticket {
  sessionId: string;
  token: string;
  /** The last number that was used. */
  seq: number;
}

/** What the server published. Times in seconds, `null` is no limit. */
export interface Limits {
  max_message_bytes?: number;
  step_timeout_s?: number | null;
  reset_timeout_s?: number | null;
  resume_grace_s?: number;
}

interface Asked {
  id: number;
  op: Op | "open";
  seq: number | null;
  frame: string;
}

/** The largest reply that a page can show; the server says so of a larger one. */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;
const PING_ID = 0;
const REPLIES = { open: "opened", reset: "observation", step: "observation", state: "state" };
/** Codes of requests that never came to their session: their number is free again. */
const NOT_TAKEN = new Set(["INVALID_JSON", "UNKNOWN_TYPE", "BACKPRESSURE"]);

/** A client's side of one session. */
export class V2 {
  readonly protocol = "v2";
  /** `null` while there is no session. */
  ticket: Ticket | null;
  limits: Limits = {};
  #id = PING_ID;
  #call: Asked | null = null;
  #opening: Asked | null = null;

  constructor(ticket: Ticket | null = null) {
    this.ticket = ticket;
  }

  /** The frame that opens a session, or comes back to the one there is. */
  open(waitS: number): string {
    const ticket = this.ticket;
    const wanted = ticket
      ? { session_id: ticket.sessionId, token: ticket.token, last_seq: ticket.seq }
      : { wait_s: waitS, queue: true };
    this.#opening = this.#asked("open", { ...wanted, max_reply_bytes: MAX_REPLY_BYTES }, null);
    return this.#opening.frame;
  }

  /** The frame that asks. Throws a `WireFailure`, and asks nothing, if the server won't read it. */
  ask(op: Op, data: JsonObject): string {
    const ticket = this.ticket;
    const seq = op === "state" || !ticket ? null : ticket.seq + 1;
    const call = this.#asked(op, op === "state" ? null : data, seq);
    this.#admit(call.frame);
    if (ticket && seq) ticket.seq = seq;
    this.#call = call;
    return call.frame;
  }

  /** The frame of the call that is not answered, if there is one. */
  unanswered(): string | null {
    return this.#call?.frame ?? null;
  }

  /** Nobody waits for the call any more; a late answer is dropped. */
  abandon(): void {
    this.#call = null;
  }

  /** The frame that asks for a sign of life. */
  ping(): string {
    return JSON.stringify({ id: PING_ID, op: "ping" });
  }

  /** The frame that ends the session, whatever runs in it. */
  close(): string {
    return this.#asked("close", { now: true }, null).frame;
  }

  /** What a frame says. */
  receive(frame: string): Word {
    const { id, type, data } = parsed(frame);
    if (id === undefined || id === null) return this.#unasked(type, data);
    const asked = [this.#opening, this.#call].find((each) => each?.id === id);
    if (!asked) return { kind: "alive" };
    if (asked === this.#opening) this.#opening = null;
    else this.#call = null;
    if (type === "error") return this.#failed(asked, failureOf(data));
    if (type !== REPLIES[asked.op] || !isObject(data)) {
      throw failure("PROTOCOL_ERROR", `The server answered ${asked.op} with ${String(type)}.`);
    }
    if (asked.op !== "open") return { kind: "result", data };
    this.#opened(data);
    return { kind: "opened" };
  }

  #asked<Name extends string>(op: Name, data: JsonObject | null, seq: number | null) {
    const id = ++this.#id;
    const view = (op === "reset" || op === "step") && { view: true };
    const envelope = { id, op, ch: 0, ...(seq && { seq }), ...view, ...(data && { data }) };
    return { id, op, seq, frame: JSON.stringify(envelope) };
  }

  #admit(frame: string): void {
    const limit = this.limits.max_message_bytes ?? Infinity;
    const size = frame.length > limit / 3 ? new TextEncoder().encode(frame).length : frame.length;
    if (size > limit) {
      throw failure(
        "MESSAGE_TOO_LARGE",
        `This has ${size} bytes, the server reads at most ${limit} (OPENENV_MAX_MESSAGE_MB ` +
          "there). Nothing was sent; the episode goes on.",
      );
    }
  }

  #opened(data: JsonObject): void {
    const { session_id, token, seq, limits } = data;
    const resumed = this.ticket;
    if (resumed && session_id !== resumed.sessionId) {
      throw failure("SESSION_GONE", "The server gave another session.");
    }
    const last = typeof seq === "number" ? seq : 0;
    this.ticket = {
      sessionId: String(session_id),
      token: String(token),
      seq: this.#call?.seq ?? last,
    };
    this.limits = isObject(limits) ? (limits as Limits) : {};
  }

  #failed(asked: Asked, told: WireFailure): Word {
    const code = told.error.code;
    if (NOT_TAKEN.has(code) && asked.seq && this.ticket) this.ticket.seq = asked.seq - 1;
    const ends = asked.op === "open" || ENDING_CODES.has(code);
    return { kind: "failed", failure: told, ends };
  }

  #unasked(type: unknown, data: JsonObject[string] | undefined): Word {
    if (type === "queued" && isObject(data)) {
      return { kind: "queued", position: Number(data.position), waiting: Number(data.waiting) };
    }
    if (type !== "error") return { kind: "alive" };
    const told = failureOf(data);
    if (!ENDING_CODES.has(told.error.code)) throw told;
    return { kind: "ended", failure: told };
  }
}
