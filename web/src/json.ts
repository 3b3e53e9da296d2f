/** JSON values, taken apart and compared. */
import type { Json, JsonObject } from "./types";

/** Whether two JSON values are equal, however deep they are. */
export function same(left: Json | undefined, right: Json | undefined): boolean {
  const pairs: Pairs = [[left, right]];
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [a, b] = pair;
    if (Object.is(a, b)) continue;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    if (sizeOf(a) !== sizeOf(b)) return false;
    const alike = Array.isArray(a) ? pairItems(a, b as Json[], pairs) : pairFields(a, b as JsonObject, pairs);
    if (!alike) return false;
  }
  return true;
}

type Pairs = [Json | undefined, Json | undefined][];

function pairItems(a: Json[], b: Json[], pairs: Pairs): boolean {
  for (let index = 0; index < a.length; index++) {
    const left = a[index];
    if (Object.is(left, b[index])) continue;
    if (typeof left !== "object") return false;
    pairs.push([left, b[index]]);
  }
  return true;
}

function pairFields(a: JsonObject, b: JsonObject, pairs: Pairs): boolean {
  for (const key of Object.keys(a)) {
    if (!Object.hasOwn(b, key)) return false;
    pairs.push([a[key], b[key]]);
  }
  return true;
}

/** How many items or fields a value has. */
export function sizeOf(value: Json[] | JsonObject): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** What an object or an array has under a key; undefined where it has nothing, or is neither. */
export function child(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, Json>)[key];
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
