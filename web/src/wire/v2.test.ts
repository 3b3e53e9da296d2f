import { describe, expect, it } from "vitest";
import type { JsonObject } from "../types";
import { V2 } from "./v2";

const LIMITS = { max_message_bytes: 200, step_timeout_s: 60, reset_timeout_s: null, resume_grace_s: 300 };

function sent(frame: string): JsonObject {
  return JSON.parse(frame) as JsonObject;
}

function opened(seq = 0, limits: JsonObject = LIMITS): V2 {
  const wire = new V2();
  answer(wire, wire.open(600), "opened", { session_id: "s", token: "t", seq, resumed: false, limits });
  return wire;
}

function answer(wire: V2, frame: string, type: string, data: JsonObject) {
  return wire.receive(JSON.stringify({ id: sent(frame).id, type, ch: 0, data }));
}

describe("a new session", () => {
  it("is asked for with patience for the server's queue", () => {
    expect(sent(new V2().open(600))).toMatchObject({
      op: "open",
      ch: 0,
      data: { wait_s: 600, queue: true },
    });
  });

  it("hears its place in the queue", () => {
    const wire = new V2();
    wire.open(600);
    const word = wire.receive('{"type":"queued","ch":0,"data":{"position":2,"waiting":3}}');
    expect(word).toEqual({ kind: "queued", position: 2, waiting: 3 });
  });

  it("counts from where the server says, and asks for the view", () => {
    const wire = opened();
    expect(sent(wire.ask("reset", { seed: 1 }))).toMatchObject({ seq: 1, view: true, data: { seed: 1 } });
    expect(sent(wire.ask("step", { message: "hi" }))).toMatchObject({ seq: 2, view: true });
    expect(sent(wire.ask("state", {}))).not.toHaveProperty("seq");
    expect(wire.ticket).toEqual({ sessionId: "s", token: "t", seq: 2 });
  });

  it("tells why there is none", () => {
    const wire = new V2();
    const data = { code: "CAPACITY_REACHED", message: "full", retryable: true, max_sessions: 1 };
    const word = answer(wire, wire.open(0), "error", data);
    expect(word).toMatchObject({
      kind: "failed",
      ends: true,
      failure: { error: { code: "CAPACITY_REACHED", retryable: true, details: { max_sessions: 1 } } },
    });
  });
});

describe("a request", () => {
  it("is answered by its id alone", () => {
    const wire = opened();
    const first = wire.ask("step", {});
    wire.abandon();
    const second = wire.ask("step", {});
    expect(answer(wire, first, "observation", { done: false })).toEqual({ kind: "alive" });
    const word = answer(wire, second, "observation", { done: true });
    expect(word).toEqual({ kind: "result", data: { done: true } });
  });

  it("is asked again with its number after a return", () => {
    const wire = opened();
    const asked = wire.ask("step", {});
    const again = wire.open(0);
    expect(sent(again).data).toMatchObject({ session_id: "s", token: "t", last_seq: 1 });
    answer(wire, again, "opened", { session_id: "s", token: "t", seq: 0, resumed: true, limits: {} });
    expect(wire.unanswered()).toBe(asked);
    expect(wire.ticket?.seq).toBe(1);
  });

  it("that nobody waits for is counted as the server counts it", () => {
    const wire = opened();
    wire.ask("step", {});
    wire.abandon();
    const seq = { session_id: "s", token: "t", seq: 0, resumed: true, limits: {} };
    answer(wire, wire.open(0), "opened", seq);
    expect(sent(wire.ask("step", {})).seq).toBe(1);
  });

  it("that was never taken gives its number back", () => {
    const wire = opened();
    answer(wire, wire.ask("step", {}), "error", { code: "BACKPRESSURE", message: "wait" });
    expect(sent(wire.ask("step", {})).seq).toBe(1);
  });

  it("that is too large is not sent, and has no number", () => {
    const wire = opened();
    expect(() => wire.ask("step", { text: "ü".repeat(120) })).toThrow(/reads at most 200/);
    expect(sent(wire.ask("step", {})).seq).toBe(1);
  });

  it("shows each fault where it is", () => {
    const wire = opened();
    const errors = [{ type: "missing", loc: ["shape", 0, "x"], msg: "Field required", input: {} }];
    const data = { code: "VALIDATION_ERROR", message: "Invalid message", errors, retryable: false };
    expect(answer(wire, wire.ask("step", {}), "error", data)).toMatchObject({
      ends: false,
      failure: { error: { faults: [{ loc: ["shape", 0, "x"], msg: "Field required" }] } },
    });
  });

  it.each(["STEP_TIMEOUT", "HOST_CRASHED", "SESSION_GONE", "SEQ_GAP"])("ends the session by %s", (code) => {
    const wire = opened();
    const word = answer(wire, wire.ask("step", {}), "error", { code, message: "it died" });
    expect(word).toMatchObject({ kind: "failed", ends: true });
  });
});

describe("a server", () => {
  it("ends a session unasked", () => {
    const wire = opened();
    const word = wire.receive('{"type":"error","ch":0,"data":{"code":"TAKEN_OVER","message":"gone"}}');
    expect(word).toMatchObject({ kind: "ended", failure: { error: { code: "TAKEN_OVER" } } });
  });

  it("that gives another session is not believed", () => {
    const wire = opened();
    const other = { session_id: "x", token: "t", seq: 0, resumed: true, limits: {} };
    expect(() => answer(wire, wire.open(0), "opened", other)).toThrow(/another session/);
  });

  it.each(["[1]", "{", '{"id":2,"type":"state","data":{}}'])("that sends %s breaks the rules", (frame) => {
    const wire = opened();
    wire.ask("step", {});
    expect(() => wire.receive(frame)).toThrow(/server/);
  });
});
