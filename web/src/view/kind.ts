import { isObject } from "../json";
import type { Json, JsonObject, Schema } from "../types";
import { type Drawing, drawingIn } from "./drawing";
import { type Picture, pictureIn } from "./image";
import {
  areBlocks,
  areChips,
  columnsOf,
  type FileIn,
  filesIn,
  isGrid,
  type ListedTool,
  type Message,
  messagesIn,
  toolsIn,
} from "./lists";
import { textForm } from "./texts";

/** What a value is, and so how it is shown. */
export type Kind =
  | { kind: "nothing"; label: string }
  | { kind: "scalar"; text: string }
  | { kind: "text"; text: string; mono: boolean }
  | { kind: "code"; text: string; language: string }
  | { kind: "markdown"; text: string }
  | Drawing
  | { kind: "pictures"; pictures: Picture[] }
  | { kind: "table"; columns: string[]; rows: JsonObject[] }
  | { kind: "grid"; rows: Json[][] }
  | { kind: "chips"; items: Json[] }
  | { kind: "messages"; messages: Message[] }
  | { kind: "tools"; tools: ListedTool[] }
  | { kind: "files"; files: FileIn[] }
  | { kind: "content"; content: ToolContent }
  | { kind: "error"; error: Failure }
  | { kind: "tree"; value: Json[] | JsonObject };

/** What a tool gave: blocks, and the structure that says more than they do. */
export interface ToolContent {
  blocks: JsonObject[];
  structured: Json | undefined;
  failed: boolean;
}

/** What went wrong, in a title and a text; `rest` is whatever else is known. */
export interface Failure {
  title: string;
  message: string;
  rest: JsonObject;
}

const MOST_PICTURES = 50;
const ERRORS = /^(?:\w+_)?(?:error|errors|exception|traceback|error_message)$/i;

/** What the value of a field is; its siblings and its schema may tell. */
export function kindOf(name: string, value: Json, siblings?: JsonObject, schema?: Schema): Kind {
  if (value === null) return { kind: "nothing", label: "null" };
  const drawing = drawingIn(name, value, siblings);
  if (drawing) return drawing;
  if (typeof value === "string") return ofText(name, value, schema);
  if (Array.isArray(value)) return ofList(name, value);
  if (isObject(value)) return ofObject(name, value);
  return { kind: "scalar", text: String(value) };
}

function ofText(name: string, text: string, schema?: Schema): Kind {
  if (text === "") return { kind: "nothing", label: "empty text" };
  if (ERRORS.test(name)) return { kind: "error", error: { title: "", message: text, rest: {} } };
  const form = textForm(name, text, schema?.contentMediaType);
  if (form.form === "code") return { kind: "code", text: form.text, language: form.language };
  if (form.form === "markdown") return { kind: "markdown", text };
  return form.form === "short" ? { kind: "scalar", text } : { kind: "text", text, mono: form.mono };
}

function ofList(name: string, value: Json[]): Kind {
  if (value.length === 0) return { kind: "nothing", label: "empty list" };
  const pictures = picturesIn(name, value);
  if (pictures) return { kind: "pictures", pictures };
  if (isGrid(value)) return { kind: "grid", rows: value };
  if (areChips(value)) return { kind: "chips", items: value };
  return isObject(value[0]) ? ofObjects(value) : { kind: "tree", value };
}

function picturesIn(name: string, value: Json[]): Picture[] | null {
  if (value.length > MOST_PICTURES) return null;
  const pictures = value.map((one) => (typeof one === "string" ? pictureIn(name, one) : null));
  return pictures.every((picture) => picture !== null) ? pictures : null;
}

function ofObjects(value: Json[]): Kind {
  const messages = messagesIn(value);
  if (messages) return { kind: "messages", messages };
  const tools = toolsIn(value);
  if (tools) return { kind: "tools", tools };
  if (areBlocks(value))
    return { kind: "content", content: { blocks: value, structured: undefined, failed: false } };
  const files = filesIn(value);
  if (files) return { kind: "files", files };
  const columns = columnsOf(value);
  return columns ? { kind: "table", columns, rows: value as JsonObject[] } : { kind: "tree", value };
}

function ofObject(name: string, value: JsonObject): Kind {
  if (Object.keys(value).length === 0) return { kind: "nothing", label: "empty object" };
  if (ERRORS.test(name)) return { kind: "error", error: failureIn(value) };
  if (areBlocks(value.content)) return { kind: "content", content: contentOf(value, value.content) };
  return { kind: "tree", value };
}

/** What went wrong, as exceptions, tools and rubrics tell it. */
export function failureIn(value: JsonObject): Failure {
  const title = firstText(value, ["type", "error_type", "error", "code", "name"]);
  const message = firstText(value, ["message", "msg", "detail", "error_message"]);
  const shown = new Set([title.key, message.key]);
  const rest = Object.fromEntries(
    Object.entries(value).filter(([key, one]) => !shown.has(key) && one !== null),
  );
  return { title: title.text, message: message.text, rest };
}

function firstText(value: JsonObject, keys: string[]): { key: string; text: string } {
  const key = keys.find((one) => typeof value[one] === "string") ?? "";
  return { key, text: key ? String(value[key]) : "" };
}

function contentOf(value: JsonObject, blocks: JsonObject[]): ToolContent {
  const structured = value.structured_content ?? value.structuredContent ?? undefined;
  const said = blocks.length === 1 ? blocks[0]?.text : undefined;
  return {
    blocks,
    structured: structured !== undefined && repeats(structured, said) ? undefined : structured,
    failed: (value.is_error ?? value.isError) === true,
  };
}

/** Whether a structure says just what the only block of text says, as servers of tools repeat it. */
function repeats(structured: Json, said: Json | undefined): boolean {
  if (typeof said !== "string") return false;
  const inner = isObject(structured) && Object.keys(structured).length === 1 ? structured.result : undefined;
  return [structured, inner].some(
    (one) => one === said || (one !== undefined && JSON.stringify(one) === said),
  );
}
