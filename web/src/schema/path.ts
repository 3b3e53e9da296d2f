import { child, isObject } from "../json";
import type { Json, JsonObject } from "../types";

/** Where something is in a value, as in a `Fault`. */
export type Loc = readonly (string | number)[];

/** A loc as one string (a JSON pointer), so that it can be compared and be a key. */
export function pointerOf(loc: Loc): string {
  return loc.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The pointer of a part of what is at `pointer`. */
export function inside(pointer: string, step: string | number): string {
  return pointer + pointerOf([step]);
}

/** The steps of a JSON pointer. */
export function stepsOf(pointer: string): string[] {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** What is at a place, undefined where there is none. */
export function at(value: Json | undefined, loc: Loc): Json | undefined {
  return loc.reduce<Json | undefined>((inner, step) => {
    if (Array.isArray(inner)) return inner[Number(step)];
    return child(inner, step);
  }, value);
}

/** A value with another one at a place; undefined takes away what is there. Untouched parts stay the same objects. */
export function put(value: Json | undefined, steps: string[], next: Json | undefined): Json | undefined {
  const [step, ...rest] = steps;
  if (step === undefined) return next;
  if (Array.isArray(value)) return putItem(value, Number(step), rest, next);
  const object = isObject(value) ? value : {};
  const inner = put(child(object, step), rest, next);
  if (inner !== undefined) return { ...object, ...entry(step, inner) };
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== step));
}

function putItem(list: Json[], index: number, rest: string[], next: Json | undefined): Json[] {
  const changed = list.slice();
  // A list has no holes: what is not filled in yet is null, and the check says so.
  changed[index] = put(list[index], rest, next) ?? null;
  return changed;
}

/** `{[key]: value}`, also where the key is `__proto__`. */
function entry(key: string, value: Json): JsonObject {
  return Object.fromEntries([[key, value]]);
}
