import type { Json, JsonObject, Schema } from "../types";
import { fieldOf, type Field, type Property } from "./field";

const DEEPEST = 12;

/**
 * What a form begins with: constants, and the required fields that have an obvious beginning. What is optional is left
 * out, so that the environment's own defaults hold.
 */
export function initialValue(schema: Schema): Json {
  return initialIn(schema, schema) ?? {};
}

/** The same for a schema within `root`; undefined where a person has to choose. */
export function initialIn(root: Schema, schema: Schema, name = "", depth = 0): Json | undefined {
  const field = fieldOf(root, schema, name);
  if (field.fallback !== undefined && depth > 0) return field.fallback;
  return field.nullable || depth > DEEPEST ? null : beginning(root, field, depth + 1);
}

/** What a field that was left out begins with once a person wants it: its default, unless that is null. */
export function begun(root: Schema, field: Field): Json {
  return field.fallback ?? beginning(root, field, 1) ?? null;
}

function beginning(root: Schema, field: Field, depth: number): Json | undefined {
  switch (field.kind) {
    case "const":
      return field.value;
    case "string":
      return field.format || field.schema.pattern ? undefined : "";
    case "text":
    case "code":
    case "bytes":
      return "";
    case "boolean":
      return false;
    case "object":
      return initialObject(root, field.properties, depth);
    case "dict":
      return {};
    case "list":
      return Array.from({ length: field.min }, () => initialIn(root, field.items, "", depth) ?? null);
    case "tuple":
      return field.items.map((item) => initialIn(root, item, "", depth) ?? null);
    case "union":
      return initialIn(root, field.options[0]!.schema, field.name, depth);
    case "number":
    case "choice":
    case "json":
      return undefined;
  }
}

function initialObject(root: Schema, properties: Property[], depth: number): JsonObject {
  const filled = properties.flatMap(({ name, schema, required, hint }): [string, Json][] => {
    const field = fieldOf(root, schema, name, hint);
    if (!required && field.kind !== "const") return [];
    const value = initialIn(root, schema, name, depth);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(filled);
}
