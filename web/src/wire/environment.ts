/** What a server tells of its environment: its schemas, its words about itself, and its page's. */
import { isObject } from "../json";
import { asSchema } from "../schema/resolve";
import type { Config, Environment, JsonObject, Metadata, Schemas } from "../types";
import { baseAddress, endpoint } from "./address";
import { failure, messageOf } from "./failure";
import { ask, unauthorized, unreachable } from "./link";

/** What servers do that have no `web/config.json`. */
export const PLAIN: Config = {
  version: null,
  mode: "simulation",
  watch: false,
  needs_token: false,
  target: null,
  custom: null,
  reset: null,
  python: null,
  chat: false,
  tools: true,
};

/** Asks a server about its environment. Rejects with a `WireFailure`. */
export async function loadEnvironment(page: URL, token?: string): Promise<Environment> {
  const [metadata, schemas, config] = await Promise.all([
    told(page, "metadata", token),
    told(page, "schema", token),
    loadConfig(page),
  ]);
  return {
    address: baseAddress(page).href,
    metadata: described(metadata),
    schemas: readable(schemas),
    config,
  };
}

/** An environment's words about itself; what is no text counts as unsaid. */
export function described({ name, description, readme_content, ...others }: JsonObject): Metadata {
  return {
    ...others,
    name: typeof name === "string" ? name : "environment",
    description: typeof description === "string" ? description : "",
    ...(typeof readme_content === "string" && { readme_content }),
  };
}

/** Schemas that are objects: a schema that is `true`, or that is none, allows anything. */
export function readable({ action, observation, state }: JsonObject): Schemas {
  return { action: asSchema(action), observation: asSchema(observation), state: asSchema(state) };
}

/** `web/config.json`, which needs no token. Rejects with a `WireFailure`. */
async function loadConfig(page: URL): Promise<Config> {
  const answer = await get(endpoint(page, "web/config.json"));
  if (answer.status === 404) return PLAIN;
  const told: Partial<Config> = await bodyOf(answer, "web/config.json");
  return { ...PLAIN, ...told, reset: isObject(told.reset) ? told.reset : null };
}

async function told(page: URL, path: string, token?: string): Promise<JsonObject> {
  const answer = await get(endpoint(page, path), token);
  if (answer.status === 401) throw unauthorized(token);
  return bodyOf(answer, path);
}

async function get(address: URL, token?: string): Promise<Response> {
  try {
    return await ask(address, token);
  } catch (error) {
    throw unreachable(messageOf(error));
  }
}

async function bodyOf(answer: Response, path: string): Promise<JsonObject> {
  const text = await answer.text();
  let said = text.slice(0, 200) || "nothing";
  try {
    const body: unknown = JSON.parse(text);
    if (answer.ok && isObject(body)) return body;
    if (isObject(body) && typeof body.message === "string") said = body.message;
  } catch {
    // said as it is
  }
  const sentence = `The server answered /${path} with ${answer.status}: ${said}`;
  throw failure("HTTP_ERROR", sentence, answer.status >= 500);
}
