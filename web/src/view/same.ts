import type { Json } from "../types";

/** Whether two JSON values are equal, however deep they are. */
export function same(left: Json | undefined, right: Json | undefined): boolean {
  const pairs: [Json | undefined, Json | undefined][] = [[left, right]];
  for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
    const [a, b] = pair;
    if (Object.is(a, b)) continue;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const keys = Object.keys(a);
    if (keys.length !== Object.keys(b).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(b, key)) return false;
      pairs.push([child(a, key), child(b, key)]);
    }
  }
  return true;
}

/** What an object or an array has under a key; undefined where it has nothing, or is neither. */
export function child(value: Json | undefined, key: string | number): Json | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, Json>)[key];
}

/** Whether a value is a JSON object. */
export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
