import { expect, it } from "vitest";
import type { Schema } from "../types";
import { documented } from "./attributes";
import { fieldOf } from "./field";
import { limitsOf, placeholderOf } from "./limits";

it.each<[Schema, string]>([
  [{ type: "integer", minimum: 0, maximum: 3 }, "whole number, 0 to 3"],
  [{ type: "integer", exclusiveMinimum: 0 }, "whole number, at least 1"],
  [
    { type: "number", exclusiveMinimum: 0, maximum: 1, multipleOf: 0.1 },
    "number, at most 1, more than 0, a multiple of 0.1",
  ],
  [{ type: "string", minLength: 1 }, "at least 1 character"],
  [{ type: "string", maxLength: 5, pattern: "^a" }, "at most 5 characters, like ^a"],
  [{ type: "string", format: "uuid" }, "a UUID"],
  [{ type: "array", minItems: 2, maxItems: 2 }, "2 items"],
  [{ type: "boolean" }, ""],
])("says what %j may be", (schema, words) => {
  expect(limitsOf(fieldOf(schema, schema))).toBe(words);
});

it("shows the default that holds, else an example", () => {
  const schema: Schema = { type: "string", default: "pong", examples: ["breakout"] };
  expect(placeholderOf(fieldOf(schema, schema), false, undefined)).toBe("pong (default)");
  expect(placeholderOf(fieldOf(schema, schema), true, undefined)).toBe("breakout");
});

it("reads what a docstring says of the fields", () => {
  const text =
    "A move.\n\nMore.\n\nAttributes:\n    move: where to,\n        in UCI.\n    why (str): none.\n\nRaises:\n    x: no field.";
  const { summary, fields } = documented(text);
  expect(summary).toBe("A move.\n\nMore.\n\n\nRaises:\n    x: no field.".replace("\n\n\n", "\n\n"));
  expect([...fields]).toEqual([
    ["move", "where to, in UCI."],
    ["why", "none."],
  ]);
});
