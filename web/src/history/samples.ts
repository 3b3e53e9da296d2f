/** What the tests of this folder work with. */
import type { Entry, Environment, JsonObject } from "../types";
import { Log, type Outcome } from "./log";

export const environment: Environment = {
  address: "http://localhost:8000/",
  metadata: { name: "Echo", description: "Echoes" },
  schemas: { action: {}, observation: {}, state: {} },
  config: {
    version: "1",
    mode: "simulation",
    watch: true,
    needs_token: false,
    target: null,
    custom: null,
    reset: null,
    python: null,
    chat: false,
    tools: false,
  },
};

export const typed: Environment = {
  ...environment,
  config: { ...environment.config, python: { module: "echo_env", client: "EchoEnv", action: "EchoAction" } },
};

/** A log without frames. */
export function newLog(limit?: number): Log {
  return new Log(limit === undefined ? {} : { limit }, (show) => show());
}

export function outcome(kind: Entry["kind"], action: JsonObject, more: Partial<Outcome> = {}): Outcome {
  const result = { observation: { said: action }, reward: kind === "step" ? 1 : null, done: false };
  return { kind, at: "2026-01-01T00:00:00.000Z", action, result, latencyMs: 1.25, ...more };
}

export function failed(action: JsonObject, message = "no such move"): Outcome {
  const { result: _none, ...rest } = outcome("step", action);
  const faults = [{ loc: ["move"], msg: "?" }];
  const error = { code: "VALIDATION_ERROR", message, retryable: false, details: {}, faults };
  return { ...rest, error };
}

/** A history of a reset, a step, a try that failed, and a step. */
export function played(): Log {
  const log = newLog();
  log.record(outcome("reset", { seed: 1 }));
  log.record(outcome("step", { message: "hi" }));
  log.record(failed({ message: 3 }));
  log.record(outcome("step", { message: "there" }));
  return log;
}
