/** Reading a file that was exported: line by line, so that a large one neither freezes the page nor fills it. */
import type { Entry, Environment, Json } from "../types";
import { Log } from "./log";
import { RecordError, STRANGE, entryIn, environmentIn } from "./record";

export const DATA_TAG = '<script type="application/json" id="openenv-episode">';
const MOST_BYTES = 64 * 1024 * 1024;

/** A history that came from a file. */
export interface Opened {
  log: Log;
  environment: Environment;
}

/** Reads a history that was exported, as JSONL or as HTML; the error says what is wrong, and in which line. */
export async function openFile(file: File): Promise<Opened> {
  if (file.size > MOST_BYTES) {
    const size = (file.size / 1024 / 1024).toFixed(1);
    throw new RecordError(`${file.name} has ${size} MB; a history of up to 64 MB can be opened`);
  }
  const opened = new Opening();
  let number = 0;
  try {
    for await (const line of linesOf(file)) {
      number += 1;
      opened.take(line);
      if (opened.isOver) break;
    }
    return opened.end();
  } catch (error) {
    throw new RecordError(`${file.name} can't be opened: ${faultOf(error, number, opened.isBegun)}`);
  }
}

/** The history that an exported page holds; null on every other page. */
export function readEmbedded(): Opened | null {
  const element =
    document.documentElement.hasAttribute("data-viewer") && document.getElementById("openenv-episode");
  if (!element) return null;
  const opened = new Opening();
  for (const line of JSON.parse(element.textContent ?? "") as Json[]) opened.put(line);
  return opened.end();
}

/** Takes the lines of a file one after the other. */
class Opening {
  /** Whether nothing of interest follows. */
  isOver = false;
  #form: "unknown" | "lines" | "page" | "list" = "unknown";
  #environment: Environment | null = null;
  readonly #log = new Log();

  /** Whether the header was read. */
  get isBegun(): boolean {
    return this.#environment !== null;
  }

  take(line: string): void {
    const text = line.trim();
    if (text === "") return;
    if (this.#form === "unknown") this.#form = text.startsWith("<") ? "page" : "lines";
    if (this.#form === "page") {
      if (text === DATA_TAG) this.#form = "list";
    } else if (this.#form === "lines") {
      this.put(JSON.parse(text) as Json);
    } else if (text === "]") {
      this.isOver = true;
    } else if (text !== "[") {
      this.put(JSON.parse(text.replace(/,$/, "")) as Json);
    }
  }

  put(line: Json): void {
    if (this.#environment === null) this.#environment = environmentIn(line);
    else this.#log.append(ascending(entryIn(line), this.#log.last));
  }

  end(): Opened {
    if (this.#environment === null) throw new RecordError(STRANGE);
    return { log: this.#log, environment: this.#environment };
  }
}

function ascending(entry: Entry, last: Entry | undefined): Entry {
  if (last && entry.index <= last.index)
    throw new RecordError(`entry ${entry.index} comes after entry ${last.index}; they must ascend`);
  return entry;
}

async function* linesOf(file: Blob): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const reader = file.stream().getReader();
  let begun: string[] = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const [first = "", ...more] = decoder.decode(value, { stream: !done }).split("\n");
      begun.push(first);
      for (const part of more) {
        yield begun.join("");
        begun = [part];
      }
      if (done) break;
    }
    yield begun.join("");
  } finally {
    await reader.cancel();
  }
}

/** What is wrong with a file, and in which of a history's lines, from 1. */
function faultOf(error: unknown, line: number, isBegun: boolean): string {
  if (error instanceof TypeError) return "it is not a text file";
  if (error instanceof SyntaxError) return isBegun ? `line ${line} is cut off, or was changed` : STRANGE;
  if (!(error instanceof RecordError)) throw error;
  return isBegun ? `line ${line}: ${error.message}` : error.message;
}
