import type { Json } from "../types";
import { FORMATS } from "./formats";
import { DECIMAL } from "./kinds";

const LONGEST = 60;

/** A value in a sentence. */
export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return "nothing";
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

const TYPES: Record<string, string> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function typeWords(type: unknown): string {
  const types = Array.isArray(type) ? type : [type];
  return types.map((each) => TYPES[String(each)] ?? String(each)).join(" or ");
}

function counted(count: unknown, one: string): string {
  return `${String(count)} ${one}${count === 1 ? "" : "s"}`;
}

function size(value: Json): number {
  return typeof value === "string" ? [...value].length : Object.keys(value ?? {}).length;
}

type Words = (limit: unknown, value: Json) => string;

const WORDS: Record<string, Words> = {
  type: (type, value) => `must be ${typeWords(type)}, got ${shown(value)}`,
  const: (only, value) => `must be ${shown(only as Json)}, got ${shown(value)}`,
  enum: (options, value) => `must be one of ${choices(options)}, got ${shown(value)}`,
  minimum: (limit, value) => `must be at least ${String(limit)}, got ${shown(value)}`,
  maximum: (limit, value) => `must be at most ${String(limit)}, got ${shown(value)}`,
  exclusiveMinimum: (limit, value) => `must be more than ${String(limit)}, got ${shown(value)}`,
  exclusiveMaximum: (limit, value) => `must be less than ${String(limit)}, got ${shown(value)}`,
  multipleOf: (limit, value) => `must be a multiple of ${String(limit)}, got ${shown(value)}`,
  minLength: (limit, value) => `must have at least ${counted(limit, "character")}, got ${size(value)}`,
  maxLength: (limit, value) => `must have at most ${counted(limit, "character")}, got ${size(value)}`,
  minItems: (limit, value) => `must have at least ${counted(limit, "item")}, got ${size(value)}`,
  maxItems: (limit, value) => `must have at most ${counted(limit, "item")}, got ${size(value)}`,
  minProperties: (limit, value) => `must have at least ${counted(limit, "key")}, got ${size(value)}`,
  maxProperties: (limit, value) => `must have at most ${counted(limit, "key")}, got ${size(value)}`,
  uniqueItems: () => "must not hold the same item twice",
  pattern: (pattern, value) => `must match ${String(pattern)}, got ${shown(value)}`,
};

/** What is wrong with a value by one keyword of its schema, in words; undefined for keywords that say nothing. */
export function faultWords(
  keyword: string,
  schema: Record<string, unknown>,
  value: Json,
): string | undefined {
  const format = keyword === "pattern" ? FORMATS[String(schema.$comment)] : undefined;
  if (format) return `must be ${format.words} such as ${format.example}, got ${shown(value)}`;
  if (keyword === "pattern" && DECIMAL.test(String(schema.pattern)))
    return `must be a number, got ${shown(value)}`;
  if (value === null && ["type", "enum", "const"].includes(keyword)) return "is needed";
  return WORDS[keyword]?.(schema[keyword], value);
}

const MOST = 12;

function choices(options: unknown): string {
  const all = options as Json[];
  const first = all.slice(0, MOST).map(shown).join(", ");
  return all.length > MOST ? `${first}, …` : first;
}
