import { describe, expect, it } from "vitest";
import type { Json, Schema } from "../types";
import { fieldOf, type NumberKind } from "../schema/field";
import { readNumber, severalNumbers } from "./numbers";

function number(schema: Schema): NumberKind {
  const field = fieldOf(schema, schema);
  if (field.kind !== "number") throw new Error(field.kind);
  return field;
}

const INTEGER = number({ type: "integer" });
const FLOAT = number({ type: "number" });

describe("readNumber", () => {
  it.each<[string, NumberKind, Json | undefined]>([
    ["12", INTEGER, 12],
    [" -007 ", INTEGER, -7],
    ["+5", INTEGER, 5],
    ["9007199254740993", INTEGER, "9007199254740993"],
    ["1.5", INTEGER, "1.5"],
    ["1e3", INTEGER, "1e3"],
    ["0x10", INTEGER, "0x10"],
    ["-", INTEGER, "-"],
    ["", INTEGER, undefined],
    ["1.5", FLOAT, 1.5],
    [".5", FLOAT, 0.5],
    ["1.", FLOAT, 1],
    ["1e-3", FLOAT, 0.001],
    ["1e400", FLOAT, "1e400"],
    ["NaN", FLOAT, "NaN"],
    ["1.10", { ...FLOAT, exact: true }, "1.10"],
  ])("%j", (text, field, value) => {
    expect(readNumber(text, field, undefined)).toBe(value);
  });
});

describe("severalNumbers", () => {
  it("reads lists as people copy them", () => {
    expect(severalNumbers("[0.1, -2, 3e2]", FLOAT)).toEqual([0.1, -2, 300]);
    expect(severalNumbers("1\t2\n3;4", INTEGER)).toEqual([1, 2, 3, 4]);
  });

  it("leaves anything else to the browser", () => {
    expect(severalNumbers("1.5", FLOAT)).toBeNull();
    expect(severalNumbers("1, two", FLOAT)).toBeNull();
  });
});
