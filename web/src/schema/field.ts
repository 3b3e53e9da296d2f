import type { Json, Schema } from "../types";
import { documented } from "./attributes";
import { kindOf } from "./kinds";
import { asSchema, resolve } from "./resolve";

/** A property of an object, or a part of a tuple. */
export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
  /** What the object's own description says of it. */
  hint: string;
}

/** One of a union's forms. */
export interface Option {
  label: string;
  schema: Schema;
}

/** What a schema asks for. Parts are schemas still, looked at when they are needed: schemas may be recursive. */
export type Kind =
  | { kind: "string"; format: string }
  | { kind: "text" }
  | { kind: "code"; language: string }
  | { kind: "bytes" }
  | NumberKind
  | { kind: "boolean" }
  | { kind: "choice"; options: Json[] }
  | { kind: "const"; value: Json }
  | { kind: "object"; properties: Property[]; extra: Schema | null }
  | { kind: "dict"; values: Schema }
  | { kind: "list"; items: Schema; min: number; max: number }
  | { kind: "tuple"; items: Schema[] }
  | { kind: "union"; options: Option[]; discriminator: string | undefined }
  | { kind: "json" };

export interface NumberKind {
  kind: "number";
  integer: boolean;
  /** A decimal: sent as the text that was typed. */
  exact: boolean;
  min: number | undefined;
  max: number | undefined;
  step: number | undefined;
  slider: boolean;
}

/** What is the same for fields of all kinds. */
export interface Place {
  name: string;
  title: string;
  hint: string;
  /** Whether null is allowed besides what the kind is of. */
  nullable: boolean;
  /** What the environment takes where the field is left out; undefined where it does not say. */
  fallback: Json | undefined;
  /** Resolved, without its null. */
  schema: Schema;
}

export type Field = Place & Kind;

/** The kind `K` of field. */
export type FieldOf<K extends Kind["kind"]> = Place & Extract<Kind, { kind: K }>;

const known = new WeakMap<Schema, WeakMap<Schema, Field>>();

/** What a schema within `root` asks for. It never throws: what it cannot make sense of is JSON. */
export function fieldOf(root: Schema, schema: Schema, name = "", hint = ""): Field {
  let fields = known.get(root);
  if (!fields) known.set(root, (fields = new WeakMap()));
  let field = fields.get(schema);
  if (!field) fields.set(schema, (field = classified(root, asSchema(schema), name, hint)));
  return field;
}

function classified(root: Schema, schema: Schema, name: string, hint: string): Field {
  const whole = resolve(root, schema);
  const [inner, nullable] = withoutNull(root, whole);
  const said = text(schema.description) || hint || text(inner.description);
  const place: Place = {
    name,
    title: titleOf(schema, name, inner),
    hint: documented(said).summary,
    nullable,
    fallback: schema.default ?? whole.default,
    schema: inner,
  };
  return withNull({ ...place, ...kindOf(root, place) });
}

/** Null is one more choice of a choice, not something apart. */
function withNull(field: Field): Field {
  if (!field.nullable) return field;
  const options = field.kind === "choice" ? field.options : field.kind === "boolean" ? [true, false] : null;
  if (!options) return field;
  return { ...field, nullable: false, kind: "choice", options: [...options, null] } as Field;
}

const MOST_UNIONS = 8;

function withoutNull(root: Schema, schema: Schema, depth = 0): [Schema, boolean] {
  if (Array.isArray(schema.type) && schema.type.includes("null") && schema.type.length > 1) {
    const types = schema.type.filter((type) => type !== "null");
    return [{ ...schema, type: types.length === 1 ? types[0]! : types }, true];
  }
  const key = schema.anyOf ? "anyOf" : "oneOf";
  const options = schema[key];
  if (!Array.isArray(options) || depth > MOST_UNIONS) return [schema, false];
  const others = options.filter((option) => resolve(root, asSchema(option)).type !== "null");
  const nullable = others.length < options.length;
  if (others.length !== 1) return [nullable ? { ...schema, [key]: others } : schema, nullable];
  const { [key]: _, default: __, ...beside } = schema;
  const [only, alsoNull] = withoutNull(root, resolve(root, asSchema(others[0])), depth + 1);
  return [{ ...only, ...beside }, nullable || alsoNull];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function titleOf(schema: Schema, name: string, resolved: Schema): string {
  return text(schema.title) || spaced(name) || text(resolved.title);
}

/** `action_id` as "Action id". */
function spaced(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
