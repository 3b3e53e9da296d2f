import type { Entry } from "../types";

const CONTAINER = 32;
const SCALAR = 8;

/** About how many bytes of memory an entry takes. */
export function weightOf(entry: Entry): number {
  const open: unknown[] = [entry];
  let weight = 0;
  while (open.length > 0) {
    const value = open.pop();
    weight += SCALAR;
    if (typeof value === "string") weight += value.length;
    if (typeof value !== "object" || value === null) continue;
    weight += CONTAINER;
    for (const part of Array.isArray(value) ? value : Object.values(value)) open.push(part);
  }
  return weight;
}
