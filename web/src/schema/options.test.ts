import { describe, expect, it } from "vitest";
import type { Json, Schema } from "../types";
import { fieldOf, type FieldOf } from "./field";
import { MONSTER } from "./fixtures";
import { initialValue } from "./initial";
import { mayBe, optionOf } from "./options";

function union(root: Schema, name: string): FieldOf<"union"> {
  const field = fieldOf(root, root.properties![name]!, name);
  if (field.kind !== "union") throw new Error(field.kind);
  return field;
}

describe("optionOf", () => {
  it.each<[string, Json | undefined, string]>([
    ["shape", { type: "square" }, "square"],
    ["shape", { side: 2 }, "square"],
    ["shape", {}, "circle"],
    ["shape", undefined, "circle"],
    ["content", "hi", "text"],
    ["content", [], "list"],
    ["int_or_text", 5, "whole number"],
    ["int_or_text", "5", "text"],
  ])("%s of %j", (name, value, label) => {
    const field = union(MONSTER, name);
    expect(field.options[optionOf(MONSTER, field, value)]!.label).toBe(label);
  });

  it("tells models without tags apart by their fields", () => {
    const model = (name: string): Schema => ({
      type: "object",
      properties: { [name]: { type: "string" } },
      required: [name],
    });
    const root: Schema = { properties: { it: { anyOf: [model("a"), model("b")] } } };
    expect(optionOf(root, union(root, "it"), { b: "x" })).toBe(1);
  });
});

it("mayBe lets a person type in the option that was picked", () => {
  const field = union(MONSTER, "int_or_text");
  expect(mayBe(MONSTER, field, 0, "12x")).toBe(true);
  expect(mayBe(MONSTER, field, 0, [])).toBe(false);
  expect(mayBe(MONSTER, union(MONSTER, "shape"), 0, { type: "square" })).toBe(false);
});

it("a union at the root begins with its first option", () => {
  const root: Schema = {
    anyOf: [{ $ref: "#/$defs/Call" }, { $ref: "#/$defs/List" }],
    $defs: {
      Call: {
        type: "object",
        properties: { type: { const: "call" }, name: { type: "string" } },
        required: ["name"],
      },
      List: { type: "object", properties: { type: { const: "list" } } },
    },
  };
  expect(initialValue(root)).toEqual({ type: "call", name: "" });
  expect(fieldOf(root, root)).toMatchObject({
    kind: "union",
    options: [{ label: "call" }, { label: "list" }],
  });
});
