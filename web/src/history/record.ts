/** The lines of a history's file: a header, then an entry each, in JSON. */
import { isObject } from "../json";
import { described, readable } from "../wire/environment";
import type {
  Entry,
  Environment,
  Fault,
  Json,
  JsonObject,
  QuickAction,
  Result,
  View,
  WireError,
} from "../types";

const FORMAT = "openenv-history";
const VERSION = 1;

/** What is wrong with a file that is something else. */
export const STRANGE = "this is not a history exported by this page";

/** What is wrong with a line, for people. */
export class RecordError extends Error {}

/** The first line: what follows, and of which environment. */
export function headerOf(environment: Environment, dropped: number): JsonObject {
  return {
    format: FORMAT,
    version: VERSION,
    exported_at: new Date().toISOString(),
    dropped,
    environment: environment as unknown as JsonObject,
  };
}

/** An entry's line. Rewards that are no numbers are text, as strict readers of JSON want it. */
export function lineOf(entry: Entry): JsonObject {
  const { kind, index, episode, step, at, action, result, error } = entry;
  return {
    kind,
    index,
    episode,
    step,
    at,
    action,
    ...(result && resultLine(result)),
    ...(error && { error: error as unknown as JsonObject }),
    total_reward: entry.total,
    latency_ms: Math.round(entry.latencyMs * 1000) / 1000,
  };
}

/** A reward as JSON has it. */
export function plain(reward: number | null): number | string | null {
  return reward === null || Number.isFinite(reward) ? reward : String(reward);
}

function resultLine({ observation, reward, done, truncated, metadata, view }: Result): JsonObject {
  return {
    observation,
    reward: plain(reward),
    done,
    ...(truncated !== undefined && { truncated }),
    ...(metadata && { metadata }),
    ...(view && { view: view as unknown as JsonObject }),
  };
}

/** The environment that a header names. */
export function environmentIn(header: Json): Environment {
  const { format, version, environment } = isObject(header) ? header : {};
  if (format !== FORMAT) throw new RecordError(STRANGE);
  if (version !== VERSION)
    throw new RecordError(`its format has version ${shown(version)}; this page reads ${VERSION}`);
  const { address, metadata, schemas, config } = object(environment, "environment");
  const words = object(metadata, "environment.metadata");
  const { version: server, python, needs_token } = object(config, "environment.config");
  return {
    address: text(address, "environment.address"),
    metadata: { ...described(words), name: text(words.name, "environment.metadata.name") },
    schemas: readable(object(schemas, "environment.schemas")),
    config: {
      version: server === null ? null : text(server, "environment.config.version"),
      mode: "simulation",
      watch: false,
      needs_token: needs_token === true,
      target: null,
      custom: null,
      reset: null,
      python: pythonIn(python),
      chat: false,
      tools: false,
    },
  };
}

/** The entry of a line. */
export function entryIn(line: Json): Entry {
  const fields = object(line, "the line");
  const { kind, error } = fields;
  if (kind !== "reset" && kind !== "step")
    throw new RecordError(`its kind is ${shown(kind)}, not "reset" or "step"`);
  return {
    kind,
    index: count(fields.index, "index"),
    episode: count(fields.episode, "episode"),
    step: count(fields.step, "step"),
    at: text(fields.at, "at"),
    action: object(fields.action, "action"),
    total: number(fields.total_reward, "total_reward"),
    latencyMs: number(fields.latency_ms, "latency_ms"),
    ...(fields.observation !== undefined && { result: resultIn(fields) }),
    ...(error !== undefined && { error: errorIn(error) }),
  };
}

function resultIn({ observation, reward, done, truncated, metadata, view }: Partial<JsonObject>): Result {
  return {
    observation: object(observation, "observation"),
    reward: reward === null ? null : number(reward, "reward"),
    done: done === true,
    ...(truncated !== undefined && { truncated: truncated === true }),
    ...(metadata !== undefined && { metadata: object(metadata, "metadata") }),
    ...(view !== undefined && { view: viewIn(view) }),
  };
}

function viewIn(value: Json): View {
  const { html, actions, error } = object(value, "view");
  return {
    html: html === null ? null : text(html, "view.html"),
    actions: list(actions, "view.actions").map((item): QuickAction => {
      const { label, action, key } = object(item, "view.actions");
      return {
        label: text(label, "label"),
        action: object(action, "action"),
        ...(key !== undefined && { key: text(key, "key") }),
      };
    }),
    ...(error !== undefined && { error: text(error, "view.error") }),
  };
}

function errorIn(value: Json): WireError {
  const { code, message, retryable, details, faults } = object(value, "error");
  return {
    code: text(code, "error.code"),
    message: text(message, "error.message"),
    retryable: retryable === true,
    details: object(details, "error.details"),
    faults: list(faults, "error.faults").map((fault): Fault => {
      const { loc, msg } = object(fault, "error.faults");
      const path = list(loc, "loc").map((part) => (typeof part === "number" ? part : text(part, "loc")));
      return { loc: path, msg: text(msg, "msg") };
    }),
  };
}

function pythonIn(value: Json | undefined): Environment["config"]["python"] {
  if (value === null || value === undefined) return null;
  const { module, client, action } = object(value, "environment.config.python");
  return {
    module: text(module, "module"),
    client: text(client, "client"),
    action: action === null ? null : text(action, "action"),
  };
}

function object(value: Json | undefined, what: string): JsonObject {
  if (isObject(value)) return value;
  throw new RecordError(`${what} is ${shown(value)}, not an object`);
}

function list(value: Json | undefined, what: string): Json[] {
  if (Array.isArray(value)) return value;
  throw new RecordError(`${what} is ${shown(value)}, not a list`);
}

function text(value: Json | undefined, what: string): string {
  if (typeof value === "string") return value;
  throw new RecordError(`${what} is ${shown(value)}, not text`);
}

function count(value: Json | undefined, what: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new RecordError(`${what} is ${shown(value)}, not a count`);
}

function number(value: Json | undefined, what: string): number {
  if (typeof value === "number") return value;
  if (value === "NaN" || value === "Infinity" || value === "-Infinity") return Number(value);
  throw new RecordError(`${what} is ${shown(value)}, not a number`);
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "missing";
  const whole = JSON.stringify(value);
  return whole.length > 40 ? `${whole.slice(0, 40)}…` : whole;
}
