/** What goes wrong, in one form: whether the server says so or the page finds it. */
import { isObject } from "../json";
import type { Fault, Json, WireError } from "../types";

/** What every call of the wire rejects with; `error` tells it all. */
export class WireFailure extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
    this.name = "WireFailure";
  }
}

/** Codes after which there is no session (any more). */
export const ENDING_CODES: ReadonlySet<string> = new Set([
  "STEP_TIMEOUT",
  "HOST_CRASHED",
  "CAPACITY_REACHED",
  "FACTORY_ERROR",
  "SESSION_ERROR",
  "SESSION_GONE",
  "TAKEN_OVER",
  "SEQ_GAP",
  "STALE_SEQ",
]);

/** A failure that the page found by itself. */
export function failure(code: string, message: string, retryable = false): WireFailure {
  return new WireFailure({ code, message, retryable, details: {}, faults: [] });
}

/** There is no episode to go on with, and why. */
export function lost(why: string): WireFailure {
  const reason = why.replace(/[;:,]? *reset\(\) begins a new one\.?$/, "");
  const sentence = /[.!?]$/.test(reason) ? reason : `${reason}.`;
  return failure("SESSION_LOST", `${sentence} Reset begins a new one.`);
}

/** Somebody left before the answer came. */
export function cancelled(): WireFailure {
  return failure("CANCELLED", "You left before the server answered.");
}

/** The failure that an error frame's `data` stands for. */
export function failureOf(data: Json | undefined): WireFailure {
  const { code, message, retryable, ...details } = isObject(data) ? data : {};
  return new WireFailure({
    code: typeof code === "string" ? code : "SESSION_ERROR",
    message: typeof message === "string" ? message : "The server sent an error without words.",
    retryable: typeof retryable === "boolean" ? retryable : code === "CAPACITY_REACHED",
    details,
    faults: faultsIn(details.errors),
  });
}

/** Whatever was thrown, as an error of the wire. */
export function asWireError(thrown: unknown): WireError {
  if (thrown instanceof WireFailure) return thrown.error;
  return failure("PAGE_ERROR", messageOf(thrown)).error;
}

/** The code of what was thrown; empty if it is no failure of the wire. */
export function codeOf(error: unknown): string {
  return error instanceof WireFailure ? error.error.code : "";
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function faultsIn(errors: Json | undefined): Fault[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(isObject).map(({ loc, msg }) => ({
    loc: Array.isArray(loc) ? loc.filter((key) => typeof key === "string" || typeof key === "number") : [],
    msg: typeof msg === "string" ? msg : "is wrong",
  }));
}
