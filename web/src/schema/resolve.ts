import type { Schema } from "../types";
import { stepsOf } from "./path";

const DEEPEST = 256;

/** A schema as an object: `true`, and whatever is none, allows anything. */
export function asSchema(schema: unknown): Schema {
  return typeof schema === "object" && schema !== null && !Array.isArray(schema) ? (schema as Schema) : {};
}

/** What a `$ref` within `root` points to; undefined where there is no such thing. */
export function target(root: Schema, ref: string): Schema | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const step of stepsOf(decoded(ref.slice(1)))) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return asSchema(found);
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}

const resolved = new WeakMap<Schema, WeakMap<Schema, Schema>>();

/**
 * A schema with its `$ref`s followed and its `allOf` merged into it; what stands beside them goes before. Each part is
 * resolved once, as schemas may name the same parts over and over; one that names itself adds nothing.
 */
export function resolve(root: Schema, schema: Schema, depth = 0): Schema {
  if (schema.$ref === undefined && schema.allOf === undefined) return schema;
  if (depth > DEEPEST) return {};
  let known = resolved.get(root);
  if (!known) resolved.set(root, (known = new WeakMap()));
  const before = known.get(schema);
  if (before) return before;
  known.set(schema, {});
  const whole = followed(root, schema, depth);
  known.set(schema, whole);
  return whole;
}

function followed(root: Schema, schema: Schema, depth: number): Schema {
  if (typeof schema.$ref === "string") {
    const { $ref, ...beside } = schema;
    const found = target(root, $ref);
    return merge(found ? resolve(root, found, depth + 1) : {}, resolve(root, beside, depth + 1));
  }
  if (!Array.isArray(schema.allOf)) return schema;
  const { allOf, ...beside } = schema;
  const parts = allOf.map((part) => resolve(root, asSchema(part), depth + 1));
  return [...parts, beside].reduce(merge, {});
}

function merge(first: Schema, second: Schema): Schema {
  const merged: Schema = { ...first, ...second };
  if (first.properties && second.properties) {
    merged.properties = { ...first.properties, ...second.properties };
  }
  if (Array.isArray(first.required) && Array.isArray(second.required)) {
    merged.required = [...new Set([...first.required, ...second.required])];
  }
  return merged;
}
