/** What the two versions of the wire have in common: what is asked, and what is heard. */
import { isObject } from "../json";
import type { Json, JsonObject, QuickAction, Result, View } from "../types";
import { failure, type WireFailure } from "./failure";

/** What a session can be asked. */
export type Op = "reset" | "step" | "state";

/** What a frame of the server means. */
export type Word =
  | { kind: "opened" } // there is a session now
  | { kind: "queued"; position: number; waiting: number }
  | { kind: "result"; data: JsonObject } // of the call that was asked
  | { kind: "failed"; failure: WireFailure; ends: boolean } // the call did; `ends`: the session too
  | { kind: "ended"; failure: WireFailure } // the session did, unasked
  | { kind: "alive" }; // nothing else

/** What a session is told after a reset or a step. */
export function resultOf(data: JsonObject): Result {
  const { observation, reward, done, metadata, view } = data;
  return {
    observation: isObject(observation) ? observation : { value: observation ?? null },
    reward: numberIn(reward),
    done: done === true,
    ...(isObject(metadata) && { metadata }),
    ...(isObject(view) && { view: viewOf(view) }),
  };
}

/** The object in a frame. Throws a `WireFailure` if there is none. */
export function parsed(frame: string): JsonObject {
  try {
    const message = JSON.parse(frame) as Json;
    if (isObject(message)) return message;
  } catch {
    // said below
  }
  throw failure("PROTOCOL_ERROR", `The server sent something unreadable: ${frame.slice(0, 80)}`);
}

/** Strict JSON has no such numbers, the wire names them. */
function numberIn(reward: Json | undefined): number | null {
  const number = typeof reward === "string" ? Number(reward) : reward;
  return typeof number === "number" ? number : null;
}

function viewOf(view: JsonObject): View {
  return {
    html: typeof view.html === "string" ? view.html : null,
    actions: Array.isArray(view.actions) ? view.actions.flatMap(quickAction) : [],
    ...(typeof view.error === "string" && { error: view.error }),
  };
}

function quickAction(item: Json): QuickAction[] {
  if (!isObject(item) || !isObject(item.action)) return [];
  const { label, action, key } = item;
  return [{ label: String(label), action, ...(typeof key === "string" && { key }) }];
}
