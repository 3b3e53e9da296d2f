/** What a server tells of its environment: its schemas, its words about itself, and its page's. */
import type { Config, Environment, Metadata, Schemas } from "../types";
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
    told<Metadata>(page, "metadata", token),
    told<Schemas>(page, "schema", token),
    loadConfig(page),
  ]);
  return { address: baseAddress(page).href, metadata, schemas, config };
}

/** `web/config.json`, which needs no token. Rejects with a `WireFailure`. */
async function loadConfig(page: URL): Promise<Config> {
  const answer = await get(endpoint(page, "web/config.json"));
  if (answer.status === 404) return PLAIN;
  return { ...PLAIN, ...(await bodyOf<Partial<Config>>(answer, "web/config.json")) };
}

async function told<T>(page: URL, path: string, token?: string): Promise<T> {
  const answer = await get(endpoint(page, path), token);
  if (answer.status === 401) throw unauthorized(token);
  return bodyOf<T>(answer, path);
}

async function get(address: URL, token?: string): Promise<Response> {
  try {
    return await ask(address, token);
  } catch (error) {
    throw unreachable(messageOf(error));
  }
}

async function bodyOf<T>(answer: Response, path: string): Promise<T> {
  const text = await answer.text();
  try {
    if (answer.ok) return JSON.parse(text) as T;
  } catch {
    // said below
  }
  throw failure(
    "HTTP_ERROR",
    `The server answered /${path} with ${answer.status}: ${text.slice(0, 200) || "nothing"}`,
    answer.status >= 500,
  );
}
