import type { Json, JsonObject } from "../types";

const WIDTH = 88;
const INDENT = "    ";
/** Controls and format characters: code that holds them raw reads otherwise than it runs. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from " +
    "global if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);
const SHELL_PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Whether Python takes a text as a name. */
export function isName(text: string): boolean {
  return IDENTIFIER.test(text) && !KEYWORDS.has(text);
}

/** JSON text whose invisible characters are escaped. */
export function json(value: Json, indent?: number): string {
  return seen(JSON.stringify(value, null, indent));
}

/** A value as a Python expression; more than a line's worth is broken at its members. */
export function python(value: Json, indent = ""): string {
  const flat = flatly(value);
  if (indent.length + flat.length <= WIDTH || value === null || typeof value !== "object") return flat;
  const deeper = indent + INDENT;
  if (Array.isArray(value))
    return broken(
      "[",
      value.map((part) => python(part, deeper)),
      "]",
      indent,
    );
  const members = Object.entries(value).map(([name, part]) => `${python(name)}: ${python(part, deeper)}`);
  return broken("{", members, "}", indent);
}

/** A call with the members of an object as its keywords. */
export function pythonCall(callee: string, keywords: JsonObject, indent = ""): string {
  const entries = Object.entries(keywords);
  const named = entries.filter(([name]) => isName(name));
  const rest = entries.filter(([name]) => !isName(name));
  const written = (inner: string): string[] => [
    ...named.map(([name, value]) => `${name}=${python(value, inner)}`),
    ...(rest.length > 0 ? [`**${python(Object.fromEntries(rest), inner)}`] : []),
  ];
  const flat = `${callee}(${written("").join(", ")})`;
  if (entries.length === 0 || (!flat.includes("\n") && indent.length + flat.length <= WIDTH)) return flat;
  return broken(`${callee}(`, written(indent + INDENT), ")", indent);
}

/** A text as one word of a shell. */
export function shell(text: string): string {
  return SHELL_PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function broken(open: string, parts: string[], close: string, indent: string): string {
  return [open, ...parts.map((part) => `${indent}${INDENT}${part},`), indent + close].join("\n");
}

function flatly(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : `float("${value}")`;
  // What JSON escapes, and how, Python reads the same.
  if (typeof value === "string") return seen(JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(flatly).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([name, part]) => `${flatly(name)}: ${flatly(part)}`)
    .join(", ")}}`;
}

function seen(text: string): string {
  return text.replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
