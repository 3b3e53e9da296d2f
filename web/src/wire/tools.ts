/** The tools of an environment, as MCP lists them. */
import { isObject } from "../json";
import type { Json, JsonObject, Schema, Tool } from "../types";
import { endpoint } from "./address";
import { failure, messageOf } from "./failure";
import { unauthorized, unreachable } from "./link";
import { parsed } from "./words";

/** Pages of tools that are read at most. */
const MAX_PAGES = 100;
const NO_TOOLS = "does not support MCP";

/** All tools; none where the environment has none. Rejects with a `WireFailure`. */
export async function listTools(page: URL, token?: string): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: Json = null;
  for (let asked = 0; asked < MAX_PAGES; asked++) {
    const result: JsonObject = await listed(endpoint(page, "mcp"), cursor, token);
    tools.push(...toolsIn(result.tools));
    cursor = result.nextCursor ?? null;
    if (cursor === null) break;
  }
  return tools;
}

/** The tools in a list of them, whichever road it came. */
export function toolsIn(list: Json | undefined): Tool[] {
  return Array.isArray(list) ? list.filter(isObject).map(toolOf) : [];
}

async function listed(address: URL, cursor: Json, token?: string): Promise<JsonObject> {
  const params = cursor === null ? {} : { cursor };
  const answer = await post(address, { jsonrpc: "2.0", id: 1, method: "tools/list", params }, token);
  if (answer.status === 401) throw unauthorized(token);
  const { result, error } = parsed(await answer.text());
  if (isObject(result)) return result;
  const why = isObject(error) ? String(error.message) : `HTTP ${answer.status}`;
  if (why.includes(NO_TOOLS) || answer.status === 404) return { tools: [] };
  throw failure("TOOLS_ERROR", `The environment's tools can't be listed: ${why}`);
}

async function post(address: URL, body: JsonObject, token?: string): Promise<Response> {
  const headers = {
    "Content-Type": "application/json",
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  try {
    return await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  } catch (error) {
    throw unreachable(messageOf(error));
  }
}

function toolOf({ name, description, inputSchema, input_schema }: JsonObject): Tool {
  const schema = inputSchema ?? input_schema;
  return {
    name: String(name),
    description: typeof description === "string" ? description : "",
    schema: isObject(schema) ? (schema as Schema) : { type: "object" },
  };
}
