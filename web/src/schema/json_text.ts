import type { Json } from "../types";

/** What a text is as JSON, or why it is none and in which line. */
type Parsed = { value: Json; error?: never } | { value?: never; error: string; line: number };

/** Reads JSON. A number that JavaScript cannot hold exactly is refused: it would be sent as another one. */
export function parseJson(text: string): Parsed {
  const lost = lostNumber(text);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    const { expected, at } = firstBad(text);
    return { error: `${expected} is expected, found ${found(text, at)}`, line: lineAt(text, at) };
  }
  if (lost === undefined) return { value };
  const number = lost.text.length > 40 ? `${lost.text.slice(0, 40)}…` : lost.text;
  const error = `${number} is too large to be sent exactly as a number: write it in quotes`;
  return { error, line: lineAt(text, lost.at) };
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function lostNumber(text: string): { text: string; at: number } | undefined {
  for (const token of text.matchAll(TOKEN)) {
    if (!token[0].startsWith('"') && !isExact(token[0])) return { text: token[0], at: token.index };
  }
  return undefined;
}

/** Whether a number survives being read: whole numbers to the last digit, and none becomes infinite. */
export function isExact(literal: string): boolean {
  if (!Number.isFinite(Number(literal))) return false;
  return !/^[+-]?\d+$/.test(literal) || BigInt(literal) === BigInt(Number(literal));
}

type Expected = "a value" | "a name in double quotes" | "a colon" | "a comma" | "the end";

const WHITE = /[ \t\n\r]*/y;
const NAME = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d.])/;
const SCALAR = new RegExp(`${NAME.source}|${NUMBER.source}|true|false|null`, "y");

/** Where a text stops being JSON, and what it would have to go on with: browsers do not agree on how to tell. */
function firstBad(text: string): { expected: Expected; at: number } {
  const open: string[] = [];
  let [at, expected]: [number, Expected] = [0, "a value"];
  for (;;) {
    at = end(WHITE, text, at) ?? at;
    const next = step(text, at, expected, open);
    if (!next) return { expected, at };
    [at, expected] = next;
  }
}

/** Reads one token; undefined where it is not what is expected. `open` has the brackets that are to be closed. */
function step(text: string, at: number, expected: Expected, open: string[]): [number, Expected] | undefined {
  const char = text[at] ?? "";
  const inside = open.at(-1);
  if (expected === "a colon") return char === ":" ? [at + 1, "a value"] : undefined;
  const closes = inside !== undefined && char === inside && lastBefore(text, at) !== ",";
  if (closes && !(expected === "a value" && inside === "}")) {
    open.pop();
    return [at + 1, after(open)];
  }
  if (expected === "a comma") {
    return char === "," ? [at + 1, inside === "}" ? "a name in double quotes" : "a value"] : undefined;
  }
  if (expected === "a name in double quotes") return tokenOf(NAME, text, at, "a colon");
  if (expected === "the end") return undefined;
  if (char === "{") return (open.push("}"), [at + 1, "a name in double quotes"]);
  if (char === "[") return (open.push("]"), [at + 1, "a value"]);
  return tokenOf(SCALAR, text, at, after(open));
}

/** The last character before a place that is no white space. */
function lastBefore(text: string, at: number): string | undefined {
  let before = at - 1;
  while (/\s/.test(text[before] ?? "")) before--;
  return text[before];
}

function after(open: string[]): Expected {
  return open.length > 0 ? "a comma" : "the end";
}

function tokenOf(pattern: RegExp, text: string, at: number, next: Expected): [number, Expected] | undefined {
  const to = end(pattern, text, at);
  return to === undefined ? undefined : [to, next];
}

/** Where a match that begins at a place ends. */
function end(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function found(text: string, at: number): string {
  const word = /^\S{1,20}/.exec(text.slice(at, at + 20))?.[0];
  return word === undefined ? "nothing more" : word;
}

function lineAt(text: string, position: number): number {
  return text.slice(0, position).split("\n").length;
}
