/** An episode as a conversation: what was asked, and what was answered. */
import { briefCall, deed } from "../history/format";
import { isObject } from "../json";
import type { Entry, Json, JsonObject, Schema } from "../types";

const SAID = ["message", "content", "text", "prompt", "query"];
const HEARD = ["response", "reply", "echoed_message", "content", "message", "text", "prompt", "output"];
const LONGEST = 4000;

/** An answer, or why there is none. */
export interface Answer {
  text: string;
  failed: boolean;
}

/** The field that a chat environment is spoken to by; undefined where it is none. */
export function chatField(schema: Schema): string | undefined {
  const required = schema.required ?? [];
  const [name] = required;
  if (required.length !== 1 || name === undefined || !SAID.includes(name)) return undefined;
  return schema.properties?.[name]?.type === "string" ? name : undefined;
}

/** What was asked by a step: the words, or else the call of a tool. Nothing by a reset. */
export function asked(entry: Entry, field: string): string {
  if (entry.kind === "reset") return "";
  const { [field]: said, tool_name, arguments: given } = entry.action;
  if (typeof said === "string") return cut(said);
  if (typeof tool_name !== "string") return deed(entry, LONGEST);
  return `${tool_name}(${briefCall(isObject(given) ? given : {}, LONGEST)})`;
}

/** What came of it, in words. */
export function answered({ error, result }: Entry): Answer {
  if (error) return { text: cut(error.message), failed: true };
  return result ? spoken(result.observation) : { text: "", failed: false };
}

/** What an observation says, in words. */
export function spoken(observation: JsonObject): Answer {
  const { error, result, tool_name, tools } = observation;
  if (isObject(error) || (typeof error === "string" && error !== ""))
    return { text: cut(wordsOf(error)), failed: true };
  const failed = isObject(result) && result.is_error === true;
  if (tool_name !== undefined && result !== undefined) return { text: cut(toolsWords(result)), failed };
  if (Array.isArray(tools)) return { text: cut(`Tools: ${tools.map(nameOf).join(", ")}`), failed };
  return {
    text: cut(lastMessage(observation.messages) ?? firstWords(observation) ?? JSON.stringify(observation)),
    failed,
  };
}

/** What a tool gave: the text of its blocks, or else its value. */
function toolsWords(result: Json): string {
  if (!isObject(result)) return wordsOf(result);
  const blocks = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  const texts = blocks.map(({ type, text }) => (typeof text === "string" ? text : `[${String(type)}]`));
  if (texts.length > 0) return texts.join("\n");
  return wordsOf(result.data ?? result.structured_content ?? result);
}

function lastMessage(messages: Json | undefined): string | undefined {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isObject(last) && typeof last.content === "string" ? last.content : undefined;
}

function firstWords(observation: JsonObject): string | undefined {
  const values = HEARD.map((name) => observation[name]);
  return values.find((value) => typeof value === "string" && value !== "") as string | undefined;
}

function wordsOf(value: Json): string {
  if (typeof value === "string") return value;
  return isObject(value) && typeof value.message === "string" ? value.message : JSON.stringify(value);
}

function nameOf(tool: Json): string {
  return isObject(tool) ? String(tool.name) : JSON.stringify(tool);
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
