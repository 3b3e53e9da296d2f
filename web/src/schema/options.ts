import { child, isObject, same } from "../json";
import type { Json, Schema } from "../types";
import { fieldOf, type Field, type FieldOf } from "./field";
import { tagOf } from "./kinds";

const NEAR = 4;

/** Which option of a union a value is of: the one its tag names, else the one it looks most like. */
export function optionOf(root: Schema, union: FieldOf<"union">, value: Json | undefined): number {
  const tagged = taggedOption(root, union, value);
  if (tagged >= 0) return tagged;
  const scores = union.options.map((option) => likeness(root, option.schema, value, NEAR));
  return Math.max(0, scores.indexOf(Math.max(...scores)));
}

/** Whether a value may be one that is being filled in for an option. */
export function mayBe(
  root: Schema,
  union: FieldOf<"union">,
  index: number,
  value: Json | undefined,
): boolean {
  const tagged = taggedOption(root, union, value);
  const option = union.options[index];
  if (!option || (tagged >= 0 && tagged !== index)) return false;
  if (value === undefined || value === null) return true;
  const field = fieldOf(root, option.schema, union.name);
  // What is typed into a number's field is text until it reads as a number.
  return (
    ofKind(field, value) || (field.kind === "number" && typeof value === "string") || field.kind === "choice"
  );
}

function taggedOption(root: Schema, union: FieldOf<"union">, value: Json | undefined): number {
  const { discriminator } = union;
  if (discriminator === undefined || !isObject(value)) return -1;
  const tag = child(value, discriminator);
  return tag === undefined
    ? -1
    : union.options.findIndex((option) => tagOf(root, option.schema, discriminator) === tag);
}

/** How much a value looks like one of a schema: from 0 (it is of another type) to 1. */
function likeness(root: Schema, schema: Schema, value: Json | undefined, depth: number): number {
  if (value === undefined) return 0;
  const field = fieldOf(root, schema);
  if (value === null && field.nullable) return 1;
  if (!ofKind(field, value)) return 0;
  if (depth === 0 || field.kind === "json") return 0.1;
  if (field.kind === "union") {
    return Math.max(...field.options.map((option) => likeness(root, option.schema, value, depth - 1)));
  }
  if (field.kind === "object" && isObject(value)) return objectLikeness(root, field, value, depth);
  if (Array.isArray(value) && value.length > 0) return listLikeness(root, field, value, depth);
  return field.kind === "dict" || field.kind === "choice" || field.kind === "const" ? 0.9 : 1;
}

function objectLikeness(
  root: Schema,
  field: FieldOf<"object">,
  value: Record<string, Json>,
  depth: number,
): number {
  const missing = field.properties.filter((part) => part.required && !Object.hasOwn(value, part.name)).length;
  const known = field.properties.filter((part) => Object.hasOwn(value, part.name));
  const fit = known.map((part) => likeness(root, part.schema, value[part.name], depth - 1));
  const strange = Object.keys(value).length - known.length;
  const sum = fit.reduce((total, each) => total + each, 0);
  return 0.2 + (0.8 * sum) / Math.max(1, known.length + missing + strange);
}

function listLikeness(root: Schema, field: Field, value: Json[], depth: number): number {
  if (field.kind === "list") return 0.2 + 0.8 * likeness(root, field.items, value[0], depth - 1);
  if (field.kind !== "tuple" || field.items.length !== value.length) return 0.2;
  const fit = field.items.map((item, index) => likeness(root, item, value[index], depth - 1));
  return 0.2 + (0.8 * fit.reduce((total, each) => total + each, 0)) / value.length;
}

const TYPES: Record<
  Exclude<Field["kind"], "union" | "choice" | "const">,
  (value: Json, field: Field) => boolean
> = {
  string: isText,
  text: isText,
  code: isText,
  bytes: isText,
  number: (value, field) => {
    return (
      typeof value === "number" && !(field.kind === "number" && field.integer && !Number.isInteger(value))
    );
  },
  boolean: (value) => typeof value === "boolean",
  object: isObject,
  dict: isObject,
  list: Array.isArray,
  tuple: Array.isArray,
  json: () => true,
};

function isText(value: Json): boolean {
  return typeof value === "string";
}

function ofKind(field: Field, value: Json): boolean {
  if (field.kind === "union") return true;
  if (field.kind === "choice") return field.options.some((option) => same(option, value));
  if (field.kind === "const") return same(field.value, value);
  return TYPES[field.kind](value, field);
}
