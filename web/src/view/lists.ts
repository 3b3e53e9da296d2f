import { isObject } from "../json";
import type { Json, JsonObject } from "../types";

/** What somebody said in a conversation. */
export interface Message {
  role: string;
  content: Json;
  /** Whatever else the message has, such as the tools it calls. */
  rest: JsonObject;
}

/** A tool as observations list it. */
export interface ListedTool {
  name: string;
  description: string;
  schema: Json;
}

/** A file in an observation. */
export interface FileIn {
  name: string;
  mime: string;
  base64: string;
}

const MOST_COLUMNS = 12;
const LONGEST_CELL = 200;
const LARGEST_GRID = 64;
const LONGEST_GRID_CELL = 8;
const MOST_FLOAT_COLUMNS = 16;
const LONGEST_CHIP = 60;

/** The messages in a list of `{role, content}`, or of `{sender_id, content}`. */
export function messagesIn(value: Json[]): Message[] | null {
  if (!value.every((one) => isObject(one) && speakerOf(one) !== null && "content" in one)) return null;
  return (value as JsonObject[]).map((one) => {
    const { role, sender_id, content, ...rest } = one;
    return { role: speakerOf(one) ?? "", content: content ?? null, rest };
  });
}

function speakerOf(one: JsonObject): string | null {
  if (typeof one.role === "string") return one.role;
  const sender = one.sender_id;
  if (typeof sender !== "number" && typeof sender !== "string") return null;
  return sender === -1 ? "game" : `player ${sender}`;
}

/** The tools in a list of `{name, description, input_schema}`. */
export function toolsIn(value: Json[]): ListedTool[] | null {
  const schemaOf = (one: JsonObject) => one.input_schema ?? one.inputSchema;
  if (!value.every((one) => isObject(one) && typeof one.name === "string" && isObject(schemaOf(one))))
    return null;
  return (value as JsonObject[]).map((one) => ({
    name: String(one.name),
    description: typeof one.description === "string" ? one.description : "",
    schema: schemaOf(one) ?? null,
  }));
}

/** The files in a list of `{name, mime, base64}`. */
export function filesIn(value: Json[]): FileIn[] | null {
  const files = value.map((one) => (isObject(one) ? fileIn(one) : null));
  return files.every((file) => file !== null) ? files : null;
}

function fileIn(one: JsonObject): FileIn | null {
  const mime = one.mime ?? one.mime_type ?? one.mimeType;
  const base64 = one.base64 ?? one.data ?? one.blob;
  if (typeof mime !== "string" || typeof base64 !== "string") return null;
  return { name: typeof one.name === "string" ? one.name : "file", mime, base64 };
}

const BLOCKS = new Set([
  "text",
  "image",
  "image_url",
  "audio",
  "resource",
  "resource_link",
  "input_text",
  "output_text",
]);

/** Whether a list is of content blocks, as MCP and chat models have them. */
export function areBlocks(value: Json | undefined): value is JsonObject[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((one) => isObject(one) && typeof one.type === "string" && BLOCKS.has(one.type));
}

/** The columns of a list of like objects with small values, in the order they appear. */
export function columnsOf(value: Json[]): string[] | null {
  const counts = new Map<string, number>();
  for (const row of value) {
    if (!isObject(row)) return null;
    for (const [name, cell] of Object.entries(row)) {
      if (!isCell(cell)) return null;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (counts.size > MOST_COLUMNS) return null;
  }
  const columns = [...counts.keys()];
  const filled = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return columns.length > 0 && filled * 2 >= columns.length * value.length ? columns : null;
}

function isCell(value: Json): boolean {
  if (typeof value === "string") return value.length <= LONGEST_CELL;
  if (typeof value !== "object" || value === null) return true;
  const items = Object.values(value);
  return items.length <= 4 && items.every((item) => typeof item !== "object" && String(item).length <= 20);
}

/** Whether a value is a matrix of cells that are small enough to be drawn as a board. */
export function isGrid(value: Json[]): value is Json[][] {
  const first = value[0];
  if (!Array.isArray(first) || value.length > LARGEST_GRID) return false;
  if (first.length === 0 || first.length > LARGEST_GRID) return false;
  const cells = value.flat() as Json[];
  if (!value.every((row) => Array.isArray(row) && row.length === first.length)) return false;
  if (!cells.every(isGridCell)) return false;
  return (
    first.length <= MOST_FLOAT_COLUMNS ||
    cells.every((cell) => typeof cell !== "number" || Number.isInteger(cell))
  );
}

function isGridCell(value: Json): boolean {
  return typeof value === "string"
    ? value.length <= LONGEST_GRID_CELL
    : typeof value !== "object" || value === null;
}

/** Whether a list is of short scalars, which stand in a row. */
export function areChips(value: Json[]): boolean {
  return value.every((one) =>
    typeof one === "string" ? one.length <= LONGEST_CHIP : typeof one !== "object" || one === null,
  );
}

/** A value in a cell: short, on one line. */
export function cellText(value: Json | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A board's cell: numbers of at most three digits after the point. */
export function gridText(value: Json): string {
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(3)));
  return value === null ? "" : String(value);
}
