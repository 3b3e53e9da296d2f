import { describe, expect, it } from "vitest";
import { failed, outcome, newLog } from "../history/samples";
import type { Entry, Json, JsonObject } from "../types";
import { answered, asked, chatField, spoken } from "./spoken";

const entryOf = (action: JsonObject, kind: Entry["kind"] = "step"): Entry => {
  const log = newLog();
  log.record(outcome(kind, action));
  return log.at(0);
};
const called = (result: Json): JsonObject => ({ tool_name: "t", result, error: null });

describe("what is asked", () => {
  it("is the words of the chat's field", () => {
    expect(asked(entryOf({ message: "hello" }), "message")).toBe("hello");
  });

  it("is the call of a tool", () => {
    const action = {
      type: "call_tool",
      tool_name: "echo_message",
      arguments: { message: "hello", times: 2 },
    };
    expect(asked(entryOf(action), "message")).toBe('echo_message(message="hello", times=2)');
    expect(asked(entryOf({ tool_name: "now" }), "message")).toBe("now()");
  });

  it("is whatever else was sent, and nothing by a reset", () => {
    expect(asked(entryOf({ type: "list_tools" }), "message")).toBe('type="list_tools"');
    expect(asked(entryOf({ seed: 1 }, "reset"), "message")).toBe("");
  });
});

describe("what is answered", () => {
  it.each<[string, JsonObject, string]>([
    [
      "a tool's blocks",
      called({ content: [{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }] }),
      "a\n[image]\nb",
    ],
    [
      "a tool's value where it has no blocks",
      called({ content: [], data: { message_length: 2 } }),
      '{"message_length":2}',
    ],
    ["a tool's text", called("hi"), "hi"],
    ["the tools", { tools: [{ name: "one" }, { name: "two" }] }, "Tools: one, two"],
    ["the last message", { messages: [{ content: "a" }, { role: "assistant", content: "b" }] }, "b"],
    ["the first field that speaks", { echoed_message: "", text: "words" }, "words"],
    ["what there is", { n: 1 }, '{"n":1}'],
  ])("is %s", (_, observation, text) => {
    expect(spoken(observation)).toEqual({ text, failed: false });
  });

  it.each<[string, JsonObject, string]>([
    [
      "of a tool",
      { tool_name: "t", result: null, error: { error_type: "x", message: "no tool t" } },
      "no tool t",
    ],
    ["told as text", { error: "it broke" }, "it broke"],
    [
      "of a tool that says so itself",
      called({ content: [{ type: "text", text: "bad" }], is_error: true }),
      "bad",
    ],
  ])("is an error %s", (_, observation, text) => {
    expect(spoken(observation)).toEqual({ text, failed: true });
  });

  it("is why a step failed", () => {
    const log = newLog();
    log.record(failed({ message: "x" }, "no such move"));
    expect(answered(log.at(0))).toEqual({ text: "no such move", failed: true });
  });

  it("is cut where it is very long", () => {
    expect(spoken({ text: "x".repeat(9000) }).text).toHaveLength(4001);
  });
});

it("is a chat where one text is all that a step needs", () => {
  const text = { type: "string" };
  expect(chatField({ properties: { message: text, n: text }, required: ["message"] })).toBe("message");
  expect(chatField({ properties: { message: text, n: text }, required: ["message", "n"] })).toBeUndefined();
  expect(chatField({ properties: { move: text }, required: ["move"] })).toBeUndefined();
});
