import type { NumberKind } from "../schema/field";
import { isExact } from "../schema/json_text";
import type { Json } from "../types";

const WHOLE = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** What was typed as a number; what is none, or cannot be held exactly, stays the text that it is. */
export function readNumber(text: string, field: NumberKind, empty: null | undefined): Json | undefined {
  const typed = text.trim();
  if (typed === "") return empty;
  if (field.exact || !(field.integer ? WHOLE : DECIMAL).test(typed)) return typed;
  return isExact(typed.replace(/^\+/, "")) ? Number(typed) : typed;
}

/** Several numbers in one text, as they are copied from a table, Python or JSON; null where it is no such text. */
export function severalNumbers(text: string, field: NumberKind): Json[] | null {
  const words = text.split(/[\s,;[\]()]+/).filter(Boolean);
  return words.length > 1 && words.every((word) => DECIMAL.test(word))
    ? words.map((word) => readNumber(word, field, null) ?? null)
    : null;
}
