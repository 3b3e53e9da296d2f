/** How long the wire waits for what. */
import type { Limits } from "./v2";
import type { Op } from "./words";

/** How long a full server may keep us in its queue. */
export const QUEUE_S = 600;
/** After so long without an action a session that can be resumed lets go of its socket. */
export const IDLE_MS = 60_000;
/** After so long without an action a session ends that can't be resumed. */
export const ABANDONED_MS = 300_000;
/** How often a server that works on something is asked whether it is there. */
export const PING_MS = 15_000;
/** How long it may take to answer that. */
export const PONG_MS = 10_000;
const SLACK_S = 10;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The pause before an attempt to connect again; `spread` of 0 to 1 keeps many pages apart. */
export function pauseMs(attempt: number, spread: number): number {
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
  return pause * (0.5 + spread / 2);
}

/** How long a call may take: what the server allows, and a little; `null` is as long as it takes. */
export function deadlineMs(op: Op, limits: Limits): number | null {
  const allowed = op === "reset" ? limits.reset_timeout_s : limits.step_timeout_s;
  return typeof allowed === "number" ? Math.min((allowed + SLACK_S) * 1000, LONGEST_TIMER_MS) : null;
}

/** How long a session waits for a client that was cut off. */
export function graceMs(limits: Limits): number {
  return (limits.resume_grace_s ?? 300) * 1000;
}

/** Ends after a time, or rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });
}
