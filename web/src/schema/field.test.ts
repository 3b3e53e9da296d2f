import { describe, expect, it } from "vitest";
import type { Schema } from "../types";
import { fieldOf, type Field } from "./field";
import { ENVIRONMENTS, MONSTER } from "./fixtures";

/** The fields of an object's schema, by name. */
function fieldsOf(root: Schema, schema: Schema = root): Record<string, Field> {
  const field = fieldOf(root, schema);
  if (field.kind !== "object") throw new Error(`not an object: ${field.kind}`);
  return Object.fromEntries(
    field.properties.map((part) => [part.name, fieldOf(root, part.schema, part.name, part.hint)]),
  );
}

function kindsOf(root: Schema): Record<string, string> {
  return Object.fromEntries(Object.entries(fieldsOf(root)).map(([name, field]) => [name, field.kind]));
}

describe("the kinds of fields", () => {
  it("are sensible for the packaged environments", () => {
    const own = Object.values(ENVIRONMENTS).map((schema) => {
      const { metadata, ...others } = kindsOf(schema);
      expect(metadata).toBe("dict");
      return others;
    });
    expect(Object.fromEntries(Object.keys(ENVIRONMENTS).map((name, index) => [name, own[index]]))).toEqual({
      "atari_env.AtariAction": {
        action_id: "number",
        game_name: "string",
        obs_type: "choice",
        full_action_space: "boolean",
      },
      "blackjack_env.BlackJackAction": { move: "choice" },
      "chess_env.ChessAction": { move: "string" },
      "coding_env.CodeAction": { code: "code" },
      "connect4_env.Connect4Action": { column: "number" },
      "echo_env.EchoAction": { message: "text" },
      "finrl_env.FinRLAction": { actions: "list" },
      "game_2048_env.Game2048Action": { move: "choice", strategy: "code" },
      "grid_world_env.GridWorldAction": { action: "choice" },
      "maze_env.MazeAction": { action: "number" },
      "openspiel_env.OpenSpielAction": { action_id: "number", game_name: "string", game_params: "dict" },
      "reasoning_gym_env.ReasoningGymAction": { answer: "text" },
      "snake_env.SnakeAction": { action: "number" },
      "textarena_env.TextArenaAction": { message: "text" },
    });
  });

  it("are those of everything that pydantic writes", () => {
    expect(kindsOf(MONSTER)).toEqual({
      metadata: "dict",
      name: "string",
      message: "text",
      code: "code",
      strategy: "code",
      count: "number",
      ratio: "number",
      even: "number",
      price: "union",
      huge: "number",
      flag: "boolean",
      maybe: "choice",
      colour: "choice",
      level: "choice",
      mode: "choice",
      only: "const",
      optional_with_default: "number",
      nullable: "number",
      address: "object",
      spare: "object",
      tags: "list",
      matrix: "list",
      pair: "tuple",
      point: "tuple",
      scores: "dict",
      by_name: "dict",
      shape: "union",
      shapes: "list",
      content: "union",
      int_or_text: "union",
      tree: "object",
      anything: "json",
      when: "string",
      day: "string",
      at: "string",
      lasts: "string",
      uid: "string",
      url: "string",
      blob: "bytes",
      unique: "list",
    });
  });

  it("know null, defaults, bounds and hints", () => {
    const fields = fieldsOf(MONSTER);
    expect(fields.nullable).toMatchObject({ nullable: true, fallback: undefined });
    expect(fields.optional_with_default).toMatchObject({ nullable: true, fallback: 5 });
    expect(fields.maybe).toMatchObject({ nullable: false, options: [true, false, null] });
    expect(fields.count).toMatchObject({ integer: true, min: 0, max: 10, slider: true });
    expect(fields.huge).toMatchObject({ slider: false });
    expect(fields.name?.hint).toBe("Its name.");
    expect(fields.strategy).toMatchObject({
      hint: "Python code, which is asked for each move.",
      language: "python",
    });
    expect(fields.only).toMatchObject({ value: "x" });
  });

  it("of a union are named by what tells them apart", () => {
    const { shape, content } = fieldsOf(MONSTER);
    expect(shape).toMatchObject({
      discriminator: "type",
      options: [{ label: "circle" }, { label: "square" }],
    });
    expect(content).toMatchObject({ options: [{ label: "text" }, { label: "list" }] });
    if (content?.kind !== "union") throw new Error("not a union");
    expect(fieldOf(MONSTER, content.options[0]!.schema, content.name).kind).toBe("text");
  });

  it("of large arrays are JSON, and of small ones lists of their size", () => {
    const rows = (count: number, items: Schema): Schema => ({
      type: "array",
      minItems: count,
      maxItems: count,
      items,
    });
    const picture = rows(210, rows(160, rows(3, { type: "integer" })));
    expect(fieldOf(picture, picture).kind).toBe("json");
    const box = rows(3, { type: "number" });
    expect(fieldOf(box, box)).toMatchObject({ kind: "list", min: 3, max: 3 });
  });

  it("have no limits that were read wrong", () => {
    const long: Schema = { type: "integer", minimum: -9223372036854775808, maximum: 9223372036854775807 };
    expect(fieldOf(long, long)).toMatchObject({ min: undefined, max: undefined, slider: false });
  });

  it("follow recursive schemas as far as they are looked at", () => {
    const { tree } = fieldsOf(MONSTER);
    if (tree?.kind !== "object") throw new Error("not an object");
    const children = fieldOf(MONSTER, tree.properties[1]!.schema, "children", tree.properties[1]!.hint);
    expect(children).toMatchObject({ kind: "list", max: 5, hint: "what hangs on it." });
  });
});

describe("odd schemas", () => {
  const odd: unknown[] = [
    {},
    { $ref: "#" },
    { $ref: "#/$defs/nowhere" },
    { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/B" }, B: { $ref: "#/$defs/A" } } },
    { $ref: "https://elsewhere.example/schema" },
    { $ref: "#/%E0%A4%A" },
    { allOf: [{ $ref: "#" }] },
    { anyOf: [] },
    { anyOf: [{ type: "null" }] },
    { type: [] },
    { type: ["string", "null"] },
    { type: "unheard of" },
    { enum: [] },
    { type: "object", properties: { a: true, b: 5, c: null } },
    { type: "array", items: false },
    { type: "array", items: [{ type: "string" }] },
    { type: "string", pattern: "(?<" },
  ];

  it.each(odd.map((schema) => [JSON.stringify(schema), schema]))("%s has a field", (_, schema) => {
    expect(fieldOf(schema as Schema, schema as Schema).kind).toBeTypeOf("string");
  });

  it("end where a union has itself as an option", () => {
    const root: Schema = { anyOf: [{ $ref: "#" }, { type: "string" }] };
    const field = fieldOf(root, root);
    if (field.kind !== "union") throw new Error(field.kind);
    expect(field.options.map((option) => fieldOf(root, option.schema).kind)).not.toContain("union");
  });

  it("with a form of their own are no unions: anyOf only limits them", () => {
    const root: Schema = {
      type: "object",
      properties: {
        a: { type: "string" },
        b: { type: "string", anyOf: [{ minLength: 1 }, { pattern: "x" }] },
      },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(kindsOf(root)).toEqual({ a: "string", b: "string" });
  });

  it("merge what allOf says", () => {
    const root = {
      allOf: [
        { properties: { a: {} }, required: ["a"] },
        { properties: { b: {} }, required: ["b"] },
      ],
    };
    expect(fieldOf(root, root)).toMatchObject({
      kind: "object",
      properties: [
        { name: "a", required: true },
        { name: "b", required: true },
      ],
    });
  });
});
