import type { Json, Schema } from "../types";
import { documented } from "./attributes";
import type { Kind, NumberKind, Option, Place, Property } from "./field";
import { asSchema, resolve } from "./resolve";
import { stringKind } from "./strings";

type Classifier = (root: Schema, place: Place) => Kind | null;

const CLASSIFIERS: Classifier[] = [
  constant,
  choice,
  union,
  list,
  mapping,
  number,
  boolean,
  (_, place) => (place.schema.type === "string" ? stringKind(place) : null),
];

/** The kind of a place's schema; the first that fits, or JSON. */
export function kindOf(root: Schema, place: Place): Kind {
  for (const classifier of CLASSIFIERS) {
    const kind = classifier(root, place);
    if (kind) return kind;
  }
  return { kind: "json" };
}

function constant(_root: Schema, { schema }: Place): Kind | null {
  if (schema.const !== undefined) return { kind: "const", value: schema.const };
  if (schema.type === "null") return { kind: "const", value: null };
  return Array.isArray(schema.enum) && schema.enum.length === 1
    ? { kind: "const", value: schema.enum[0]! }
    : null;
}

/** Of more options than these nobody chooses one from a list: they are typed. */
const MOST_OPTIONS = 1000;

function choice(root: Schema, { schema }: Place): Kind | null {
  const options = Array.isArray(schema.enum) ? schema.enum : constants(root, schema);
  if (!options || options.length === 0) return null;
  if (options.length <= MOST_OPTIONS) return { kind: "choice", options };
  return options.every((option) => typeof option === "string")
    ? { kind: "string", format: "" }
    : { kind: "json" };
}

/** A union of nothing but constants is a choice. */
function constants(root: Schema, schema: Schema): Json[] | null {
  const options = formsOf(root, schema).map(({ resolved }) => resolved.const);
  const all = options.filter((option) => option !== undefined);
  return all.length === options.length ? all : null;
}

interface Form {
  place: Schema;
  resolved: Schema;
}

const DEEPEST = 3;

/** The options of a union, and of the unions among them: one more than `MOST_OPTIONS` where there are too many. */
function formsOf(root: Schema, schema: Schema): Form[] {
  const forms: Form[] = [];
  for (const form of formsIn(root, schema, 0)) {
    forms.push(form);
    if (forms.length > MOST_OPTIONS) break;
  }
  return forms;
}

function* formsIn(root: Schema, schema: Schema, depth: number): Generator<Form> {
  for (const place of optionsOf(schema).map(asSchema)) {
    const resolved = resolve(root, place);
    if (optionsOf(resolved).length === 0) yield { place, resolved };
    // A union that has itself as an option ends somewhere.
    else if (depth === DEEPEST) yield { place: {}, resolved: {} };
    else yield* formsIn(root, resolved, depth + 1);
  }
}

/** The forms that a schema offers a choice of; one that has a form of its own only limits it further. */
function optionsOf(schema: Schema): Schema[] {
  const formed =
    schema.properties !== undefined || (typeof schema.type === "string" && schema.type !== "object");
  const options = schema.anyOf ?? schema.oneOf;
  return !formed && Array.isArray(options) ? options : [];
}

function union(root: Schema, { schema, name }: Place): Kind | null {
  const forms = formsOf(root, schema);
  if (forms.length > MOST_OPTIONS) return { kind: "json" };
  if (forms.length > 0) return numeric(forms) ?? apart(root, schema, forms, name);
  if (!Array.isArray(schema.type) || schema.type.length === 0) return null;
  const options = schema.type.map((type) => ({ label: type, schema: { ...schema, type } }));
  return { kind: "union", options, discriminator: undefined };
}

/** The pattern of a text that reads as a decimal number. */
export const DECIMAL = /\\d\*\\\.\?\\d/;

/** `int | float` is a number, and so is a Decimal: a number, or text that reads as one. */
function numeric(forms: Form[]): Kind | null {
  const options = forms.map(({ resolved }) => resolved);
  const numbers = options.filter((option) => option.type === "number" || option.type === "integer");
  const others = options.filter((option) => !numbers.includes(option));
  const decimal =
    others.length === 1 && others[0]?.type === "string" && DECIMAL.test(others[0].pattern ?? "");
  if (numbers.length === 0 || (others.length > 0 && !decimal)) return null;
  const wide = numbers.find((option) => option.type === "number") ?? numbers[0]!;
  return { ...numberKind(wide), exact: decimal };
}

function apart(root: Schema, schema: Schema, forms: Form[], name: string): Kind {
  const resolved = forms.map((form) => form.resolved);
  const discriminator = schema.discriminator?.propertyName ?? commonConstant(root, resolved);
  const options = forms.map((form, index): Option => {
    return { label: labelOf(root, form.resolved, discriminator, index), schema: named(form, name) };
  });
  return { kind: "union", options, discriminator };
}

/** A string of a union is known by the union's name: `content: str | list[Part]` is a text. */
function named({ place, resolved }: Form, name: string): Schema {
  return resolved.type === "string" && !place.title ? { ...resolved, "x-name": name } : place;
}

function labelOf(root: Schema, option: Schema, discriminator: string | undefined, index: number): string {
  const tag = discriminator && tagOf(root, option, discriminator);
  if (tag !== undefined && tag !== "") return String(tag);
  if (option.title) return option.title;
  if (option.const !== undefined) return String(option.const);
  return typeof option.type === "string" ? (TYPE_WORDS[option.type] ?? option.type) : `option ${index + 1}`;
}

const TYPE_WORDS: Record<string, string> = {
  string: "text",
  integer: "whole number",
  boolean: "yes or no",
  array: "list",
  null: "null",
};

/** What an option's discriminating property is: one constant. */
export function tagOf(root: Schema, option: Schema, discriminator: string): Json | undefined {
  const property = asSchema(resolve(root, option).properties)[discriminator];
  const schema = resolve(root, asSchema(property));
  return schema.const ?? (schema.enum?.length === 1 ? schema.enum[0] : undefined);
}

/** A property that is another constant in each option tells them apart as well as a declared one. */
function commonConstant(root: Schema, options: Schema[]): string | undefined {
  return Object.keys(asSchema(options[0]?.properties)).find((name) => {
    const tags = options.map((option) => tagOf(root, option, name));
    return !tags.includes(undefined) && new Set(tags).size === options.length;
  });
}

/** Lists with more items than these are JSON: nobody fills in a picture number by number. */
export const MOST_ITEMS = 1000;

function list(root: Schema, { schema }: Place): Kind | null {
  if (schema.type !== "array" && !schema.prefixItems) return null;
  if (leastItems(root, schema) > MOST_ITEMS) return { kind: "json" };
  if (Array.isArray(schema.prefixItems)) return { kind: "tuple", items: schema.prefixItems.map(asSchema) };
  if (Array.isArray(schema.items)) return { kind: "tuple", items: schema.items.map(asSchema) };
  const [min, max] = [exact(schema.minItems) ?? 0, exact(schema.maxItems) ?? Infinity];
  return { kind: "list", items: asSchema(schema.items), min, max };
}

/** How many items a list has at least, those of the lists in it counted. */
function leastItems(root: Schema, schema: Schema, depth = 0): number {
  const items = asSchema(schema.items);
  const each =
    depth < MOST_DIMENSIONS && items !== schema ? leastItems(root, resolve(root, items), depth + 1) : 1;
  return schema.type === "array" ? (exact(schema.minItems) ?? 0) * Math.max(1, each) : 1;
}

const MOST_DIMENSIONS = 8;

function mapping(_root: Schema, { schema }: Place): Kind | null {
  const properties = Object.entries(asSchema(schema.properties));
  if (schema.type !== "object" && properties.length === 0) return null;
  const extra = schema.additionalProperties;
  if (properties.length === 0 && (extra ?? !schema.properties) !== false)
    return { kind: "dict", values: asSchema(extra) };
  const hints = documented(typeof schema.description === "string" ? schema.description : "").fields;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    kind: "object",
    properties: properties.map(([name, part]): Property => {
      return { name, schema: asSchema(part), required: required.includes(name), hint: hints.get(name) ?? "" };
    }),
    extra: extra === undefined || extra === false ? null : asSchema(extra),
  };
}

function number(_root: Schema, { schema }: Place): Kind | null {
  return schema.type === "integer" || schema.type === "number" ? numberKind(schema) : null;
}

const WIDEST_SLIDER = 1000;

function numberKind(schema: Schema): NumberKind {
  const integer = schema.type === "integer";
  const min = exact(schema.minimum) ?? (integer ? next(schema.exclusiveMinimum, 1) : undefined);
  const max = exact(schema.maximum) ?? (integer ? next(schema.exclusiveMaximum, -1) : undefined);
  const slider = min !== undefined && max !== undefined && max > min && max - min <= WIDEST_SLIDER;
  return { kind: "number", integer, exact: false, min, max, step: exact(schema.multipleOf), slider };
}

/** A limit; one that JavaScript cannot hold exactly is left to the environment. */
function exact(value: unknown): number | undefined {
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function next(bound: unknown, by: number): number | undefined {
  const whole = exact(bound);
  return whole === undefined ? undefined : whole + by;
}

function boolean(_root: Schema, { schema }: Place): Kind | null {
  return schema.type === "boolean" ? { kind: "boolean" } : null;
}
