import { describe, expect, it } from "vitest";
import type { QuickAction, Result, Schema } from "../types";
import { fromSchema, isCross, quickActions, withKeys } from "./quick";

const MOVE: Schema = {
  type: "object",
  properties: { move: { $ref: "#/$defs/Move" }, metadata: { type: "object" } },
  required: ["move"],
  $defs: { Move: { enum: ["up", "down", "left", "right"] } },
};

function offering(labels: string[], done = false): Result {
  const actions = labels.map((label) => ({ label, action: { move: label } }));
  return { observation: {}, reward: 0, done, view: { html: null, actions } };
}

describe("buttons", () => {
  it("are made of an action that is one choice among few", () => {
    expect(fromSchema(MOVE).map((each) => each.action)).toEqual([
      { move: "up" },
      { move: "down" },
      { move: "left" },
      { move: "right" },
    ]);
    const number = (bounds: Schema): Schema => ({
      properties: { n: { type: "integer", ...bounds } },
      required: ["n"],
    });
    expect(fromSchema(number({ minimum: 0, exclusiveMaximum: 3 })).map((each) => each.label)).toEqual([
      "0",
      "1",
      "2",
    ]);
    expect(fromSchema(number({ minimum: 0 }))).toEqual([]);
    expect(fromSchema(number({ minimum: 0, maximum: 1000 }))).toEqual([]);
    expect(fromSchema({ properties: { a: { enum: [1] }, b: { enum: [2] } }, required: ["a", "b"] })).toEqual(
      [],
    );
  });

  it("stay in their places when an action is not offered any more", () => {
    const all = quickActions(MOVE, offering(["up", "down", "left"]), []);
    const fewer = quickActions(MOVE, offering(["up", "left"]), all);
    expect(fewer.map(({ label, offered }) => [label, offered])).toEqual([
      ["up", true],
      ["down", false],
      ["left", true],
    ]);
    expect(fewer.map((each) => each.key)).toEqual(all.map((each) => each.key));
  });

  it("are off when the episode is over, and those of the schema do not take their places", () => {
    const before = quickActions(MOVE, offering(["hit", "stand"]), []);
    const over = quickActions(MOVE, offering([], true), before);
    expect(over.map(({ label, offered }) => [label, offered])).toEqual([
      ["hit", false],
      ["stand", false],
    ]);
  });

  it("are offered still when the view failed, which says nothing of them", () => {
    const before = quickActions(MOVE, offering(["hit", "stand"]), []);
    const failed: Result = {
      observation: {},
      reward: 0,
      done: false,
      view: { html: null, actions: [], error: "x" },
    };
    expect(quickActions(MOVE, failed, before).map((each) => each.offered)).toEqual([true, true]);
  });

  it("have no places to keep where all of them change, as in chess", () => {
    const moves = (from: number) => Array.from({ length: 20 }, (_, at) => `m${from + at}`);
    const before = quickActions(MOVE, offering(moves(0)), []);
    expect(quickActions(MOVE, offering(moves(100)), before).map((each) => each.label)).toEqual(moves(100));
  });
});

describe("keys", () => {
  const keysOf = (...actions: [string, string?][]) =>
    withKeys(
      actions.map(([label, key]): QuickAction => ({ label, action: {}, ...(key ? { key } : {}) })),
    ).map((each) => each.key);

  it("are arrows for directions, and digits for the others", () => {
    expect(keysOf(["UP"], ["left"], ["jump"], ["run"])).toEqual(["ArrowUp", "ArrowLeft", "1", "2"]);
  });

  it("are the environment's own first", () => {
    expect(keysOf(["up", "w"], ["one", "1"], ["two"])).toEqual(["w", "1", "2"]);
    expect(keysOf(["jump", "ArrowUp"], ["up"])).toEqual(["ArrowUp", "1"]);
  });

  it("are not dealt where there are too few", () => {
    expect(keysOf(...Array.from({ length: 10 }, (_, at): [string] => [`m${at}`]))).toEqual(
      Array(10).fill(undefined),
    );
  });

  it("make a cross of four directions", () => {
    expect(isCross(withKeys(fromSchema(MOVE)))).toBe(true);
    expect(isCross(withKeys(fromSchema(MOVE)).slice(1))).toBe(false);
  });
});
