import { describe, expect, it } from "vitest";
import { baseAddress, bearer, endpoint, socketAddress } from "./address";
import { asWireError, failureOf, lost } from "./failure";
import { deadlineMs, graceMs, pauseMs } from "./patience";
import { V1 } from "./v1";
import { resultOf } from "./words";

describe("addresses", () => {
  it.each([
    ["http://127.0.0.1:8000/web/", "ws://127.0.0.1:8000/ws"],
    ["https://example.org/a/b/web/index.html?x=1#y", "wss://example.org/a/b/ws"],
  ])("of %s", (page, socket) => {
    expect(socketAddress(new URL(page)).href).toBe(socket);
  });

  it("are beside the page", () => {
    const page = new URL("https://example.org/env/web/?q=1");
    expect(baseAddress(page).href).toBe("https://example.org/env/");
    expect(endpoint(page, "schema").href).toBe("https://example.org/env/schema");
  });

  it("show a token in a subprotocol's letters", () => {
    expect(bearer("a?>ü~")).toBe("openenv.bearer.YT8-w7x-");
  });
});

describe("results", () => {
  it.each([
    ["NaN", NaN],
    ["Infinity", Infinity],
    ["-Infinity", -Infinity],
    [1.5, 1.5],
    [null, null],
    [undefined, null],
  ])("with the reward %s", (reward, expected) => {
    const data = { observation: {}, done: false, ...(reward !== undefined && { reward }) };
    expect(resultOf(data).reward).toEqual(expected);
  });

  it("have the environment's own view, as far as it makes sense", () => {
    const actions = [{ label: "Up", action: { move: 1 }, key: "ArrowUp" }, { label: "?" }, 7];
    const view = resultOf({ observation: {}, done: true, view: { html: "<b>", actions } }).view;
    expect(view).toEqual({ html: "<b>", actions: [actions[0]] });
  });
});

describe("failures", () => {
  it("keep what else was said", () => {
    const { error } = failureOf({ code: "X", message: "m", retryable: false, limit: 3 });
    expect(error).toEqual({ code: "X", message: "m", retryable: false, details: { limit: 3 }, faults: [] });
  });

  it.each([null, undefined, [], "text"])("of data that is none: %j", (data) => {
    expect(failureOf(data).error.code).toBe("SESSION_ERROR");
  });

  it("of anything thrown", () => {
    expect(asWireError(new Error("boom"))).toMatchObject({ code: "PAGE_ERROR", message: "boom" });
    expect(asWireError(lost("It is gone")).message).toBe("It is gone. Reset begins a new one.");
  });
});

describe("wire v1", () => {
  it("asks and is answered in turn", () => {
    const wire = new V1();
    expect(JSON.parse(wire.ask("step", { a: 1 }))).toEqual({ type: "step", data: { a: 1 } });
    const word = wire.receive('{"type":"observation","data":{"observation":{},"reward":1,"done":false}}');
    expect(word.kind).toBe("result");
    expect(JSON.parse(wire.ask("state", {}))).toEqual({ type: "state" });
  });

  it.each([
    ["EXECUTION_ERROR", false],
    ["CAPACITY_REACHED", true],
    ["SESSION_ERROR", true],
  ])("fails by %s", (code, ends) => {
    const wire = new V1();
    wire.ask("reset", {});
    const word = wire.receive(JSON.stringify({ type: "error", data: { code, message: "m" } }));
    expect(word).toMatchObject({ kind: "failed", ends, failure: { error: { code } } });
  });

  it("hears the server end it", () => {
    const frame = '{"type":"error","data":{"code":"SESSION_ERROR","message":"idle"}}';
    expect(new V1().receive(frame).kind).toBe("ended");
  });

  it("believes no answer to something else", () => {
    const wire = new V1();
    wire.ask("state", {});
    expect(() => wire.receive('{"type":"observation","data":{}}')).toThrow(/answered state/);
  });
});

describe("patience", () => {
  it("grows to a cap, spread over many pages", () => {
    expect([0, 1, 2, 10].map((attempt) => pauseMs(attempt, 1))).toEqual([250, 500, 1000, 5000]);
    expect(pauseMs(0, 0)).toBe(125);
  });

  it("is as long as the server's, and a little", () => {
    expect(deadlineMs("step", { step_timeout_s: 5 })).toBe(15_000);
    expect(deadlineMs("reset", { reset_timeout_s: null })).toBeNull();
    expect(deadlineMs("state", { step_timeout_s: 1e12 })).toBe(2 ** 31 - 1);
    expect(graceMs({})).toBe(300_000);
  });
});
