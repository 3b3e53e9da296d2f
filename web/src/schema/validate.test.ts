import { describe, expect, it } from "vitest";
import type { Json, JsonObject, Schema } from "../types";
import { ENVIRONMENTS, MONSTER } from "./fixtures";
import { initialValue } from "./initial";
import { pointerOf } from "./path";
import { placed } from "./place_faults";
import { validate } from "./validate";

const RIGHT: JsonObject = {
  name: "a",
  message: "",
  code: "",
  count: 1,
  level: 1,
  nullable: null,
  address: { street: "s", zip: "12345" },
  pair: [1, "a"],
  shape: { type: "circle", radius: 1 },
};

/** What is wrong with the right action, once changed: by its place. */
function wrong(changes: JsonObject): Record<string, string> {
  return by(validate(MONSTER, { ...RIGHT, ...changes }));
}

function by(faults: { loc: (string | number)[]; msg: string }[]): Record<string, string> {
  return Object.fromEntries(faults.map((fault) => [pointerOf(fault.loc), fault.msg]));
}

describe("validate", () => {
  it("finds nothing wrong with what is right", () => {
    expect(validate(MONSTER, RIGHT)).toEqual([]);
    expect(
      wrong({ huge: "123456789012345678901234567890", ratio: 1, when: "2026-01-31 12:00", at: "12:30" }),
    ).toEqual({});
    expect(
      wrong({ day: "2026-01-31", lasts: "PT5M", uid: "7f1c3a528e0b4a449c550d5f1f0c2b9e", blob: "SGVsbG8=" }),
    ).toEqual({});
    expect(
      wrong({
        shapes: [
          { type: "square", side: 2 },
          { type: "circle", radius: 0.5 },
        ],
      }),
    ).toEqual({});
    expect(wrong({ tree: { label: "a", children: [{ label: "b", children: [] }] } })).toEqual({});
  });

  it.each<[JsonObject, Record<string, string>]>([
    [{ count: -1 }, { "/count": "must be at least 0, got -1" }],
    [{ count: 1.5 }, { "/count": "must be a whole number, got 1.5" }],
    [{ count: "many" }, { "/count": 'must be a whole number, got "many"' }],
    [{ count: null }, { "/count": "is needed" }],
    [{ even: 3 }, { "/even": "must be a multiple of 2, got 3" }],
    [{ name: "" }, { "/name": "must have at least 1 character, got 0" }],
    [{ name: "x".repeat(21) }, { "/name": "must have at most 20 characters, got 21" }],
    [{ mode: "c" }, { "/mode": 'must be one of "a", "b", 3, got "c"' }],
    [{ only: "y" }, { "/only": 'must be "x", got "y"' }],
    [{ tags: ["a", "b", "c", "d", "e", "f"] }, { "/tags": "must have at most 5 items, got 6" }],
    [{ tags: ["a", 1] }, { "/tags/1": "must be text, got 1" }],
    [{ unique: [1, 1] }, { "/unique": "must not hold the same item twice" }],
    [{ pair: [1] }, { "/pair": "must have at least 2 items, got 1" }],
    [{ scores: { a: "x" } }, { "/scores/a": 'must be a whole number, got "x"' }],
    [
      { address: { street: "", zip: "1" } },
      {
        "/address/street": "must have at least 1 character, got 0",
        "/address/zip": 'must match ^\\d{5}$, got "1"',
      },
    ],
    [{ address: {} }, { "/address/street": "is needed", "/address/zip": "is needed" }],
    [{ spare: { street: "s", zip: "12345", more: 1 } }, { "/spare/more": "is not a field of this" }],
    [{ shape: { type: "circle", radius: 0 } }, { "/shape/radius": "must be more than 0, got 0" }],
    [{ shape: { type: "square", side: 11 } }, { "/shape/side": "must be at most 10, got 11" }],
    [{ shapes: [{ type: "square", side: 1 }, { type: "circle" }] }, { "/shapes/1/radius": "is needed" }],
    [{ content: [{ label: 5 }] }, { "/content/0/label": "must be text, got 5" }],
    [{ when: "soon" }, { "/when": 'must be a date and time such as 2026-01-31T12:30:00Z, got "soon"' }],
    [{ surprise: 1 }, { "/surprise": "is not a field of this" }],
    [
      { by_name: { "a/b ü%": { street: "s", zip: "x" } } },
      { "/by_name/a~1b ü%/zip": 'must match ^\\d{5}$, got "x"' },
    ],
  ])("says of %j what is wrong", (changes, faults) => {
    expect(wrong(changes)).toEqual(faults);
  });

  it("says which fields are missing", () => {
    expect(by(validate(MONSTER, {}))).toMatchObject({ "/name": "is needed", "/shape": "is needed" });
  });

  it("lets pass what it cannot read, for the environment to check", () => {
    const schemas: Json[] = [
      { $ref: "#/$defs/nowhere" },
      { $defs: { A: { $ref: "#/$defs/A" } }, $ref: "#/$defs/A" },
      { type: "string", pattern: "(?i)rust" },
      { properties: { a: 5 } },
      { anyOf: [] },
      { $id: "not a uri", type: "object" },
    ];
    for (const schema of schemas) expect(validate(schema as Schema, { type: "x" }).length).toBeLessThan(2);
    expect(validate({ type: "string", pattern: "(?i)rust" }, "Rust")).toEqual([]);
  });

  it("is quick with long lists", () => {
    const list = {
      type: "object",
      properties: { items: { type: "array", items: MONSTER.properties!.shape! } },
      $defs: MONSTER.$defs!,
    };
    const items = Array.from({ length: 500 }, () => ({ type: "circle", radius: -1 }));
    expect(validate(list, { items }).length).toBeGreaterThan(50);
  });
});

describe("initialValue", () => {
  it("has what is required and leaves the rest to the environment", () => {
    expect(initialValue(MONSTER)).toEqual({
      name: "",
      message: "",
      code: "",
      only: "x",
      nullable: null,
      address: { street: "" },
      pair: [null, ""],
      shape: { type: "circle" },
    });
  });

  it("is sensible for the packaged environments", () => {
    expect(Object.values(ENVIRONMENTS).map(initialValue)).toEqual([
      {},
      {},
      { move: "" },
      { code: "" },
      {},
      { message: "" },
      { actions: [] },
      {},
      {},
      {},
      {},
      { answer: "" },
      {},
      { message: "" },
    ]);
  });

  it("ends, whatever the schema", () => {
    const endless = { type: "object", properties: { next: { $ref: "#" } }, required: ["next"] };
    expect(JSON.stringify(initialValue(endless)).length).toBeLessThan(1000);
  });
});

describe("placed", () => {
  it("says what a validator's author said", () => {
    expect(placed(MONSTER, RIGHT, [{ loc: ["count"], msg: "Value error, too many" }])).toEqual([
      { loc: ["count"], msg: "too many" },
    ]);
  });

  it("finds the field that a server means", () => {
    const value = { ...RIGHT, shapes: [{ type: "circle", radius: 0 }], int_or_text: [], scores: { a: "x" } };
    const locs = [
      ["shape", "circle", "radius"],
      ["shapes", 0, "circle", "radius"],
      ["int_or_text", "int"],
      ["scores", "a"],
      ["nowhere"],
    ];
    const faults = locs.map((loc) => ({ loc, msg: "" }));
    expect(placed(MONSTER, value, faults).map((fault) => fault.loc)).toEqual([
      ["shape", "radius"],
      ["shapes", 0, "radius"],
      ["int_or_text"],
      ["scores", "a"],
      [],
    ]);
  });
});
