import type { Schema } from "../types";
import { FORMATS } from "./formats";
import { target } from "./resolve";

type Part = Record<string, unknown>;

const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS = ["properties", "$defs", "definitions", "patternProperties", "dependentSchemas"];
const SINGLE = ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
/** What the checker is to see of a schema besides its parts; formats are checked by patterns of our own. */
const KEPT = new Set([
  ...["$ref", "type", "const", "enum", "dependentRequired", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"],
  ...["uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains"],
]);
/** Marks the text that stands for a number, where there could be a number. */
export const NUMBER = "number";
/** Numbers that JSON has not, and whole numbers that JavaScript cannot hold, travel as text. */
const NUMBERS_AS_TEXT = "^(NaN|[+-]?Infinity)$";
const WHOLE_AS_TEXT = "^[+-]?\\d{16,}$";

/**
 * A schema as the checker is to read it: a copy without what it would stumble over (patterns of other dialects,
 * references to nothing), and no stricter than an environment, which takes what any of a union's options takes.
 */
export function compiled(root: Schema): Schema {
  return part(root, root) as Schema;
}

function part(root: Schema, schema: unknown): unknown {
  if (schema === false) return { not: {} };
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return {};
  const from = schema as Part;
  const to: Part = {};
  for (const [key, value] of Object.entries(from)) {
    const copy = copied(root, key, value);
    if (copy !== undefined) to[key] = copy;
  }
  if (to.oneOf && !to.anyOf) [to.anyOf, to.oneOf] = [to.oneOf, undefined];
  if (to.oneOf === undefined) delete to.oneOf;
  return withText(withFormat(from, to));
}

function copied(root: Schema, key: string, value: unknown): unknown {
  if (KEPT.has(key))
    return key === "$ref" && !(typeof value === "string" && target(root, value)) ? undefined : value;
  if (key === "required") return Array.isArray(value) ? value : undefined;
  if (key === "pattern") return typeof value === "string" && isPattern(value) ? value : undefined;
  if (LISTS.includes(key)) return listed(root, value);
  if (MAPS.includes(key)) return mapped(root, value);
  if (key === "items" && Array.isArray(value)) return listed(root, value);
  return SINGLE.includes(key) ? part(root, value) : undefined;
}

function listed(root: Schema, value: unknown): unknown {
  return Array.isArray(value) && value.length > 0 ? value.map((each) => part(root, each)) : undefined;
}

function mapped(root: Schema, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, part(root, each)]));
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
  if (!Object.hasOwn(FORMATS, name)) return to;
  const allOf = Array.isArray(to.allOf) ? to.allOf : [];
  return { ...to, allOf: [...allOf, { pattern: FORMATS[name]!.pattern, $comment: name }] };
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
