/** Wire v1, without a socket: one session, one request, one reply, strictly in turn. */
import { isObject } from "../json";
import type { JsonObject } from "../types";
import { ENDING_CODES, failure, failureOf } from "./failure";
import { parsed, type Op, type Word } from "./words";

const REPLIES: Record<Op, string> = { reset: "observation", step: "observation", state: "state" };

/** A client's side of one socket. */
export class V1 {
  readonly protocol = "v1";
  #asked: Op | null = null;

  /** The frame that asks; its reply is the next frame. */
  ask(op: Op, data: JsonObject): string {
    this.#asked = op;
    return JSON.stringify(op === "state" ? { type: op } : { type: op, data });
  }

  /** What a frame says. */
  receive(frame: string): Word {
    const { type, data } = parsed(frame);
    const asked = this.#asked;
    this.#asked = null;
    if (type === "error") {
      const told = failureOf(data);
      if (!asked) return { kind: "ended", failure: told };
      return { kind: "failed", failure: told, ends: ENDING_CODES.has(told.error.code) };
    }
    if (asked && type === REPLIES[asked] && isObject(data)) return { kind: "result", data };
    throw failure("PROTOCOL_ERROR", `The server answered ${asked ?? "nothing"} with ${String(type)}.`);
  }
}
