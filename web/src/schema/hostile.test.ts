/** Schemas and values that would freeze the page: each test ends within the runner's own limit. */
import { describe, expect, it } from "vitest";
import type { Json, JsonObject, Schema } from "../types";
import { fieldOf } from "./field";
import { initialValue } from "./initial";
import { limitsOf } from "./limits";
import { validate } from "./validate";

/** Definitions, each made of the next one. */
function chain(of: (next: Schema) => Schema, last: Schema = { type: "object" }): Schema {
  const links = Array.from({ length: 30 }, (_, index): [string, Schema] => [
    `A${index}`,
    of({ $ref: `#/$defs/A${index + 1}` }),
  ]);
  return { $ref: "#/$defs/A0", $defs: { ...Object.fromEntries(links), A30: last } };
}

function countOf(value: Json | undefined): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((total, each) => total + countOf(each), 1);
}

describe("schemas whose parts name the next ones twice", () => {
  it.each<[string, (next: Schema) => Schema]>([
    ["allOf", (next) => ({ allOf: [next, next] })],
    ["anyOf", (next) => ({ anyOf: [next, next] })],
    ["oneOf", (next) => ({ oneOf: [next, next, next] })],
    ["not", (next) => ({ not: { allOf: [next, next] } })],
    ["required", (next) => ({ type: "object", required: ["a", "b"], properties: { a: next, b: next } })],
  ])("%s", (_, of) => {
    const schema = chain(of);
    expect(fieldOf(schema, schema).kind).toBeTypeOf("string");
    expect(countOf(initialValue(schema))).toBeLessThan(2000);
    validate(schema, {});
    validate(schema, initialValue(schema));
  });

  it("in every option and property, for a deep value", () => {
    const schema = chain((next) => ({ anyOf: [{ properties: { a: next } }, { properties: { a: next } }] }));
    let value: Json = 1;
    for (let depth = 0; depth < 30; depth++) value = { a: value };
    validate(schema, value);
  });

  it("with three branches that name the whole", () => {
    const schema: Schema = { allOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#" }], type: "object" };
    expect(fieldOf(schema, schema).kind).toBe("dict");
  });

  it("merged, still say what they say", () => {
    const schema = chain((next) => ({ allOf: [next, next] }), {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
    });
    expect(initialValue(schema)).toEqual({ a: "" });
  });
});

it("a union of itself or nothing has a field", () => {
  const schema: Schema = { anyOf: [{ $ref: "#" }, { type: "null" }] };
  expect(fieldOf(schema, schema).kind).toBeTypeOf("string");
});

it("a union of very many forms is JSON", () => {
  const each: Schema = { anyOf: Array.from({ length: 100 }, () => ({ type: "object", properties: {} })) };
  const twice: Schema = { anyOf: Array.from({ length: 100 }, () => each) };
  const schema: Schema = { anyOf: Array.from({ length: 100 }, () => twice) };
  expect(fieldOf(schema, schema).kind).toBe("json");
});

describe("required parts of required parts", () => {
  it("are begun as far as there is room", () => {
    const schema: Schema = {
      $ref: "#/$defs/A",
      $defs: {
        A: {
          type: "object",
          properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/A" } },
          required: ["a", "b"],
        },
      },
    };
    const count = countOf(initialValue(schema));
    expect(count).toBeGreaterThan(100);
    expect(count).toBeLessThan(1100);
  });

  it("are all begun on the first level, and where they are few", () => {
    const names = Array.from({ length: 3000 }, (_, index) => `f${index}`);
    const wide: Schema = {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
      required: names,
    };
    expect(Object.keys(initialValue(wide) as JsonObject)).toHaveLength(3000);
    let deep: Schema = { type: "string" };
    for (let depth = 0; depth < 8; depth++)
      deep = { type: "object", properties: { a: deep }, required: ["a"] };
    expect(JSON.stringify(initialValue(deep))).toBe(`${'{"a":'.repeat(8)}""${"}".repeat(8)}`);
  });
});

it("a schema nested deeper than can be followed is left to the server", () => {
  let schema: Schema = { type: "string" };
  for (let depth = 0; depth < 20_000; depth++)
    schema = { type: "object", properties: { a: schema }, required: ["a"] };
  expect(fieldOf(schema, schema).kind).toBe("object");
  expect(validate(schema, { a: 1 })).toEqual([]);
});

describe("very many options", () => {
  const options = Array.from({ length: 100_000 }, (_, index) => `v${index}`);

  it("are typed, and checked", () => {
    const one: Schema = { type: "string", enum: options };
    expect(fieldOf(one, one).kind).toBe("string");
    expect(limitsOf(fieldOf(one, one))).toBe("one of 100000 texts");
    const schema: Schema = { type: "object", properties: { a: one } };
    expect(validate(schema, { a: "v99999" })).toEqual([]);
    expect(validate(schema, { a: "w" })[0]?.msg).toMatch(/^must be one of "v0", .*, …, got "w"$/);
  });

  it("of other types are JSON", () => {
    const schema: Schema = { enum: options.map((_, index) => index) };
    expect(fieldOf(schema, schema).kind).toBe("json");
  });
});

describe("patterns", () => {
  const of = (pattern: string): Schema => ({
    type: "object",
    properties: { a: { type: "string", pattern } },
  });

  it("that may never end are left to the server", () => {
    expect(validate(of("^(a+)+$"), { a: `${"a".repeat(40)}!` })).toEqual([]);
    expect(validate(of("(x+x+)+y"), { a: "x".repeat(100) })).toEqual([]);
  });

  it("are not tried on long texts", () => {
    expect(validate(of("a*a*a*b"), { a: "a".repeat(100_000) })).toEqual([]);
    expect(validate(of("^[a-z]+$"), { a: "a".repeat(100_000) })).toEqual([]);
  });

  it("are tried on all others", () => {
    expect(validate(of("^[a-z]+$"), { a: "A" })).toEqual([
      { loc: ["a"], msg: 'must match ^[a-z]+$, got "A"' },
    ]);
  });

  it("of names are not tried if they may never end", () => {
    const schema: Schema = {
      type: "object",
      patternProperties: { "^(a+)+$": { type: "string" } },
      additionalProperties: false,
    };
    expect(validate(schema, { [`${"a".repeat(40)}!`]: 1 })).toEqual([]);
  });
});

it("equal items are found in short lists alone", () => {
  const schema: Schema = { type: "object", properties: { a: { type: "array", uniqueItems: true } } };
  const items = Array.from({ length: 20_000 }, (_, id) => ({ id }));
  expect(validate(schema, { a: [...items, { id: 0 }] })).toEqual([]);
  expect(validate(schema, { a: [{ id: 0 }, { id: 0 }] })).toEqual([
    { loc: ["a"], msg: "must not hold the same item twice" },
  ]);
});

it.each(["%", "a/b~c%25", "a#b", "%E0%A4%A", "$ref", "é b", "anyOf", "__proto__"])(
  "a property named %j is checked",
  (name) => {
    const properties = Object.fromEntries([
      [name, { anyOf: [{ type: "integer" }, { type: "boolean" }] }],
      [`${name}2`, { type: "integer" }],
    ]);
    const schema: Schema = { type: "object", properties, required: [name, `${name}2`] };
    const wrong = Object.fromEntries([
      [name, "x"],
      [`${name}2`, "y"],
    ]);
    expect(validate(schema, wrong).map((fault) => fault.loc)).toEqual([[name], [`${name}2`]]);
    expect(validate(schema, {}).map((fault) => fault.loc)).toEqual([[name], [`${name}2`]]);
  },
);
