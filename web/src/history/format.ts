import type { Entry, Json, JsonObject } from "../types";

/** What a container takes of the budget, lest one within the other without end be followed. */
const NESTED = 8;

/** A value in one line, cut off after about as many characters as the budget has. */
export function brief(value: Json, budget = 160): string {
  const parts: string[] = [];
  write(value, { parts, left: budget });
  return parts.join("");
}

/** An object's members in one line, as keywords of a call. */
export function briefCall(members: JsonObject, budget = 160): string {
  const parts: string[] = [];
  const page = { parts, left: budget };
  each(Object.entries(members), page, ([name, value]) => {
    put(`${name}=`, page);
    write(value, page);
  });
  return parts.join("");
}

/** Which entry it is. */
export function nameOf({ kind, step, episode }: Entry): string {
  return kind === "reset" ? `Reset, episode ${episode}` : `Step ${step}, episode ${episode}`;
}

/** What was done, in one line. */
export function deed({ kind, action }: Entry, budget?: number): string {
  return kind === "reset" ? `reset(${briefCall(action, budget)})` : briefCall(action, budget);
}

interface Page {
  parts: string[];
  left: number;
}

function write(value: Json, page: Page): void {
  if (value === null || typeof value !== "object") return scalar(value, page);
  page.left -= NESTED;
  if (Array.isArray(value)) {
    put("[", page);
    each(value, page, (part) => write(part, page));
    return put("]", page);
  }
  put("{", page);
  each(Object.entries(value), page, ([name, part]) => {
    put(`${name}: `, page);
    write(part, page);
  });
  put("}", page);
}

function scalar(value: null | boolean | number | string, page: Page): void {
  if (typeof value !== "string" || value.length <= page.left) return put(JSON.stringify(value), page);
  put(`${JSON.stringify(value.slice(0, page.left)).slice(0, -1)}…`, page);
}

function each<Part>(parts: Part[], page: Page, one: (part: Part) => void): void {
  for (const [place, part] of parts.entries()) {
    if (place > 0) put(", ", page);
    if (page.left <= 0) return put("…", page);
    one(part);
  }
}

function put(text: string, page: Page): void {
  page.parts.push(text);
  page.left -= text.length;
}
