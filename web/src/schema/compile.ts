import type { Schema } from "../types";
import { FORMATS } from "./formats";
import { longestFor } from "./pattern";
import { target } from "./resolve";

type Part = Record<string, unknown>;

const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const SINGLE = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
/** What the checker is to see of a schema besides its parts; formats are checked by patterns of our own. */
const KEPT = new Set([
  ...["$ref", "type", "const", "enum", "dependentRequired", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"],
  ...["minProperties", "maxProperties", "minContains", "maxContains"],
]);
/** Marks the text that stands for a number, where there could be a number. */
export const NUMBER = "number";
/** Numbers that JSON has not, and whole numbers that JavaScript cannot hold, travel as text. */
const NUMBERS_AS_TEXT = "^(NaN|[+-]?Infinity)$";
const WHOLE_AS_TEXT = "^[+-]?\\d{16,}$";

/** Equal items are found by comparing each with each: those of longer lists are the server's to find. */
const MOST_COMPARED = 1000;
/** A pattern that is tried on the names of fields, however long, is to take few steps. */
const FEW_STEPS = 1000;

interface Compiling {
  root: Schema;
  visited: () => void;
}

/**
 * A schema as the checker is to read it: a copy without what it would stumble over (patterns of other dialects,
 * references to nothing) or never be done with, and no stricter than an environment, which takes what any of a
 * union's options takes. `visited` is called whenever the checker comes to a part of it.
 */
export function compiled(root: Schema, visited: () => void): Schema {
  return part({ root, visited }, root) as Schema;
}

function part(compiling: Compiling, schema: unknown): unknown {
  if (schema === false) return { not: {} };
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return {};
  const from = schema as Part;
  const to: Part = {};
  for (const [key, value] of Object.entries(from)) {
    const copy = copied(compiling, key, value);
    if (copy !== undefined) to[key] = copy;
  }
  if (to.oneOf && !to.anyOf) [to.anyOf, to.oneOf] = [to.oneOf, undefined];
  if (to.oneOf === undefined) delete to.oneOf;
  // What would be more than these is not known where some of them are not tried.
  if (from.patternProperties !== undefined && to.patternProperties === undefined)
    delete to.additionalProperties;
  return counted(compiling, withText(withLimits(from, withFormat(from, to))));
}

/** A part that tells when the checker comes to it: that alone asks for this keyword, of an older dialect. */
function counted({ visited }: Compiling, schema: Part): Part {
  return Object.defineProperty(schema, "$recursiveRef", { get: visited });
}

function copied(compiling: Compiling, key: string, value: unknown): unknown {
  if (KEPT.has(key))
    return key === "$ref" && !(typeof value === "string" && target(compiling.root, value))
      ? undefined
      : value;
  if (key === "required") return Array.isArray(value) ? value : undefined;
  if (key === "patternProperties" && !areCheap(value)) return undefined;
  if (LISTS.includes(key)) return listed(compiling, value);
  if (MAPS.includes(key)) return mapped(compiling, value);
  if (key === "items" && Array.isArray(value)) return listed(compiling, value);
  return SINGLE.includes(key) ? part(compiling, value) : undefined;
}

function listed(compiling: Compiling, value: unknown): unknown {
  return Array.isArray(value) && value.length > 0 ? value.map((each) => part(compiling, each)) : undefined;
}

function mapped(compiling: Compiling, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, part(compiling, each)]));
}

function areCheap(patterns: unknown): boolean {
  const all = Object.keys(patterns ?? {});
  return all.every((pattern) => isPattern(pattern) && longestFor(pattern) >= FEW_STEPS);
}

function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function withFormat(from: Part, to: Part): Part {
  const name = typeof from.format === "string" ? from.format : "";
  return Object.hasOwn(FORMATS, name) ? also(to, { pattern: FORMATS[name]!.pattern, $comment: name }) : to;
}

/** What takes the longer the larger a value is holds for small ones. */
function withLimits({ pattern, uniqueItems }: Part, to: Part): Part {
  const longest = typeof pattern === "string" && isPattern(pattern) ? longestFor(pattern) : 0;
  const limited = longest > 0 ? also(to, { if: { maxLength: longest }, then: { pattern } }) : to;
  return uniqueItems === true
    ? also(limited, { if: { maxItems: MOST_COMPARED }, then: { uniqueItems } })
    : limited;
}

function also(schema: Part, limit: Part): Part {
  return { ...schema, allOf: [...(Array.isArray(schema.allOf) ? schema.allOf : []), limit] };
}

/** `{"type": "number"}` with the texts that stand for numbers. */
function withText(schema: Part): Part {
  if (schema.type !== "number" && schema.type !== "integer") return schema;
  const pattern = schema.type === "number" ? `${NUMBERS_AS_TEXT}|${WHOLE_AS_TEXT}` : WHOLE_AS_TEXT;
  const { type, ...limits } = schema;
  return {
    anyOf: [
      { type, ...limits },
      { type: "string", pattern, $comment: NUMBER },
    ],
  };
}
