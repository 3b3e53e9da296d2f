import type { Entry, Environment, Json, JsonObject } from "../types";
import { isName, json, python, pythonCall, shell } from "./literals";
import { plain } from "./record";

/** How the Python program waits: in an event loop, or blocking. */
export type Waiting = "async" | "sync";

/** A reset, and the steps after it. */
interface Play {
  reset: JsonObject;
  steps: JsonObject[];
}

const RESULT = "result.observation, result.reward, result.done";
const TOKEN_NOTE = "# The server wants a token: it is read from OPENENV_CLIENT_TOKEN.";
const TOOL_ACTIONS: Record<string, string> = { call_tool: "CallToolAction", list_tools: "ListToolsAction" };

/** A Python program that does what was done: whole episodes, or the entries that were chosen. */
export function asPython(
  entries: readonly Entry[],
  environment: Environment,
  waiting: Waiting = "async",
): string {
  const kept = replayable(entries);
  const { plays } = kept;
  const names = namesFor(plays, environment);
  const lines = [
    ...(waiting === "async" ? ["import asyncio", ""] : []),
    ...importsOf(names),
    "",
    ...(environment.config.needs_token ? [TOKEN_NOTE] : []),
    ...program(plays, names, { address: addressOf(environment), waiting }),
  ];
  return [...omission(kept.omitted), ...lines, ""].join("\n");
}

/** The same over plain HTTP, for a shell: one session, named by X-Session-ID. */
export function asCurl(entries: readonly Entry[], environment: Environment): string {
  const { plays, omitted } = replayable(entries);
  const token = environment.config.needs_token
    ? ['    --header "Authorization: Bearer $OPENENV_CLIENT_TOKEN" \\']
    : [];
  const lines = [
    `BASE=${shell(addressOf(environment))}`,
    'SESSION="episode-$$-$(date +%s)"',
    "",
    "call() {  # method, path, JSON",
    "  printf '%s' \"$3\" | curl --silent --show-error --fail-with-body --write-out '\\n' \\",
    ...token,
    "    --header 'Content-Type: application/json' --header \"X-Session-ID: $SESSION\" \\",
    '    --request "$1" --data-binary @- "$BASE/$2"',
    "}",
    "",
    ...plays.flatMap(({ reset, steps }) => [
      `call POST reset ${shell(json(reset))}`,
      ...steps.map((action) => `call POST step ${shell(json({ action }))}`),
    ]),
    "call DELETE session",
    "",
  ];
  return [...omission(omitted), ...lines].join("\n");
}

/** The entries as JSON: one as it is, more as a list. */
export function asJson(entries: readonly Entry[]): string {
  const shown = entries.map(({ kind, action, result, error }): Json => ({
    kind,
    action,
    ...(result && { observation: result.observation, reward: plain(result.reward), done: result.done }),
    ...(error && { error: { code: error.code, message: error.message, details: error.details } }),
  }));
  return `${json(shown.length === 1 ? (shown[0] ?? null) : shown, 2)}\n`;
}

/** Tries that failed would end a program early: they are left out, unless one is all there is. */
function replayable(entries: readonly Entry[]): { plays: Play[]; omitted: number } {
  const kept = entries.length > 1 ? entries.filter((entry) => !entry.error) : entries;
  const plays: Play[] = [];
  for (const { kind, action } of kept) {
    if (kind === "reset") plays.push({ reset: action, steps: [] });
    else (plays.at(-1) ?? begun(plays)).steps.push(action);
  }
  return { plays, omitted: entries.length - kept.length };
}

function begun(plays: Play[]): Play {
  const play: Play = { reset: {}, steps: [] };
  plays.push(play);
  return play;
}

function omission(count: number): string[] {
  return count > 0
    ? [`# ${count === 1 ? "A try that failed is" : `${count} tries that failed are`} left out.`]
    : [];
}

/** What the program imports, and what it calls the client and an action. */
interface Names {
  module: string;
  client: string;
  action: string | null;
  tools: string[];
}

function namesFor(plays: Play[], { config }: Environment): Names {
  const own = config.python;
  if (!own || !isName(own.client) || !own.module.split(".").every(isName))
    return { module: "openenv", client: "GenericEnvClient", action: null, tools: [] };
  const action = own.action !== null && isName(own.action) ? own.action : null;
  const actions = action === null ? [] : plays.flatMap((play) => play.steps);
  const tools = new Set(actions.map(toolAction).filter((name) => name !== undefined));
  const isUsed = actions.some((step) => toolAction(step) === undefined);
  return { module: own.module, client: own.client, action: isUsed ? action : null, tools: [...tools].sort() };
}

function toolAction(action: JsonObject): string | undefined {
  return typeof action.type === "string" ? TOOL_ACTIONS[action.type] : undefined;
}

function importsOf({ module, client, action, tools }: Names): string[] {
  const names = [...new Set([client, ...(action === null ? [] : [action])])].sort();
  const lines = [`from ${module} import ${names.join(", ")}`];
  if (tools.length > 0) lines.push(`from openenv import ${tools.join(", ")}`);
  return lines.sort();
}

function program(plays: Play[], names: Names, how: { address: string; waiting: Waiting }): string[] {
  const client = `${names.client}(base_url=${python(how.address)})`;
  if (how.waiting === "sync")
    return [`with ${client}.sync() as env:`, ...plays.flatMap((play) => body(play, names, "    ", ""))];
  return [
    "",
    "async def main() -> None:",
    `    async with ${client} as env:`,
    ...plays.flatMap((play) => body(play, names, "        ", "await ")),
    "",
    "",
    "asyncio.run(main())",
  ];
}

function body(play: Play, names: Names, indent: string, wait: string): string[] {
  const reset = `${indent}result = ${wait}${pythonCall("env.reset", play.reset, indent)}`;
  const show = `print(${RESULT})`;
  const [first, ...more] = play.steps;
  if (first === undefined) return [reset, indent + show];
  if (more.length === 0)
    return [reset, `${indent}result = ${wait}env.step(${written(first, names, indent)})`, indent + show];
  return [
    reset,
    `${indent}for action in [`,
    ...play.steps.map((action) => `${indent}    ${written(action, names, `${indent}    `)},`),
    `${indent}]:`,
    `${indent}    result = ${wait}env.step(action)`,
    `${indent}    ${show}`,
  ];
}

function written(action: JsonObject, names: Names, indent: string): string {
  const tool = names.tools.length > 0 ? toolAction(action) : undefined;
  if (tool !== undefined) {
    const { type: _said, ...rest } = action;
    return pythonCall(tool, rest, indent);
  }
  return names.action === null ? python(action, indent) : pythonCall(names.action, action, indent);
}

function addressOf({ address, config }: Environment): string {
  return (config.target ?? address).replace(/\/+$/, "");
}
