import type { Json, JsonObject, Schema } from "../types";
import { fieldOf, type Field, type Property } from "./field";
import { MOST_ITEMS } from "./kinds";

const DEEPEST = 12;
/** How much a form begins with, at most, unless that is all on its first level. */
const MOST_PARTS = MOST_ITEMS + 10;

/** How far a beginning goes. */
interface Extent {
  root: Schema;
  deepest: number;
  /** How many more parts it may have. */
  left: number;
  /** Whether there is more further down. */
  deeper: boolean;
}

/**
 * What a form begins with: constants, and the required fields that have an obvious beginning. What is optional is left
 * out, so that the environment's own defaults hold.
 */
export function initialValue(schema: Schema): Json {
  return initialIn(schema, schema) ?? {};
}

/** The same for a schema within `root`; undefined where a person has to choose, or to ask for what is further down. */
export function initialIn(root: Schema, schema: Schema, name = "", depth = 0): Json | undefined {
  return asDeepAsItMay(root, (extent) => initial(extent, schema, name, depth));
}

/** What a field that was left out begins with once a person wants it: its default, unless that is null. */
export function begun(root: Schema, field: Field): Json {
  return field.fallback ?? asDeepAsItMay(root, (extent) => beginning(extent, field, 1)) ?? null;
}

/** As many whole levels as there is room for: required parts may have required parts, and so on without an end. */
function asDeepAsItMay(root: Schema, begin: (extent: Extent) => Json | undefined): Json | undefined {
  let value: Json | undefined;
  for (let deepest = 1; deepest <= DEEPEST; deepest++) {
    const extent = { root, deepest, left: MOST_PARTS, deeper: false };
    const next = begin(extent);
    if (deepest > 1 && extent.left < 0) break;
    value = next;
    if (!extent.deeper) break;
  }
  return value;
}

function initial(extent: Extent, schema: Schema, name: string, depth: number): Json | undefined {
  const field = fieldOf(extent.root, schema, name);
  if (field.fallback !== undefined && depth > 0) return field.fallback;
  if (field.nullable) return null;
  extent.left -= 1;
  if (depth <= 1 || (depth <= extent.deepest && extent.left >= 0)) return beginning(extent, field, depth + 1);
  extent.deeper = true;
  return undefined;
}

function beginning(extent: Extent, field: Field, depth: number): Json | undefined {
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
      return initialObject(extent, field.properties, depth);
    case "dict":
      return {};
    case "list":
      return Array.from({ length: field.min }, () => initial(extent, field.items, "", depth) ?? null);
    case "tuple":
      return field.items.map((item) => initial(extent, item, "", depth) ?? null);
    case "union":
      return initial(extent, field.options[0]!.schema, field.name, depth);
    case "number":
    case "choice":
    case "json":
      return undefined;
  }
}

function initialObject(extent: Extent, properties: Property[], depth: number): JsonObject {
  const filled = properties.flatMap(({ name, schema, required, hint }): [string, Json][] => {
    const field = fieldOf(extent.root, schema, name, hint);
    if (!required && field.kind !== "const") return [];
    const value = initial(extent, schema, name, depth);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(filled);
}
