/** What the parts of the page pass to each other. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** A JSON schema, as pydantic writes it. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: Json;
  const?: Json;
  enum?: Json[];
  examples?: Json[];
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  contentMediaType?: string;
  contentEncoding?: string;
  [key: string]: unknown;
}

/** One of the environment's own buttons; `key` is a `KeyboardEvent.key`. */
export interface QuickAction {
  label: string;
  action: JsonObject;
  key?: string;
}

/** What the environment shows of itself after a reset or a step. */
export interface View {
  html: string | null;
  actions: QuickAction[];
  error?: string;
}

/** What a reset or a step gave. `reward` is NaN where the wire says "NaN". */
export interface Result {
  observation: JsonObject;
  reward: number | null;
  done: boolean;
  truncated?: boolean;
  metadata?: JsonObject;
  view?: View;
}

/** One thing that is wrong with an action: where (a path into it), and what. */
export interface Fault {
  loc: (string | number)[];
  msg: string;
}

/** What the server, or the wire, says is wrong. `faults` are those of a VALIDATION_ERROR. */
export interface WireError {
  code: string;
  message: string;
  retryable: boolean;
  details: JsonObject;
  faults: Fault[];
}

/** One line of the history: a reset (`action` is its keywords), a step, or a try at one. */
export interface Entry {
  /** 0, 1, 2, … over the whole history, also when old entries were dropped. */
  index: number;
  kind: "reset" | "step";
  /** ISO 8601. */
  at: string;
  action: JsonObject;
  result?: Result;
  error?: WireError;
  latencyMs: number;
  /** 1, 2, … of the resets. */
  episode: number;
  /** Steps in the episode, this one included; 0 at a reset. */
  step: number;
  /** Sum of the episode's finite rewards, this one's included. */
  total: number;
}

export type Phase =
  | "idle" // no session yet, or let go of
  | "connecting"
  | "queued" // the server is full, and there is a place in its queue
  | "open"
  | "busy" // a request is running
  | "reconnecting" // the socket was lost; the session lives
  | "lost" // the session is gone
  | "copied" // another tab has the session, and this one none yet
  | "full" // no slot became free in time
  | "refused"; // no token, or another origin, or no such server

/** Where a session stands; `message` says it to people. */
export interface Status {
  phase: Phase;
  message: string;
}

/** A tool, as MCP lists it. */
export interface Tool {
  name: string;
  description: string;
  schema: Schema;
}

/** `/schema`. */
export interface Schemas {
  action: Schema;
  observation: Schema;
  state: Schema;
}

/** `/metadata`. */
export interface Metadata {
  name: string;
  description: string;
  version?: string | null;
  author?: string | null;
  readme_content?: string | null;
}

/** `web/config.json`; servers that have none are given the defaults. */
export interface Config {
  version: string | null;
  mode: "simulation" | "production";
  watch: boolean;
  needs_token: boolean;
  target: string | null;
  custom: { name: string; path: string; primary: boolean; only: boolean } | null;
  reset: Schema | null;
  python: { module: string; client: string; action: string | null } | null;
  chat: boolean;
  tools: boolean;
}

/** All that a server tells of its environment. `address` is its base, ending in a slash. */
export interface Environment {
  address: string;
  metadata: Metadata;
  schemas: Schemas;
  config: Config;
}
