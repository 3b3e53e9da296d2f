import { useEffect, useRef, useState } from "preact/hooks";
import type { Log } from "../history/log";
import type { Entry, Json, JsonObject, Schema } from "../types";
import "./play.css";

const MOST = 200;
const SAID = ["message", "content", "text", "prompt", "query"];
const HEARD = ["response", "reply", "echoed_message", "content", "message", "text", "prompt", "output"];

/** The field that a chat environment is spoken to by; undefined where it is none. */
export function chatField(schema: Schema): string | undefined {
  const required = schema.required ?? [];
  const [name] = required;
  if (required.length !== 1 || name === undefined || !SAID.includes(name)) return undefined;
  return schema.properties?.[name]?.type === "string" ? name : undefined;
}

/** What an observation says, in words. */
export function spoken(observation: JsonObject): string {
  const messages = observation.messages;
  if (Array.isArray(messages)) {
    const last = messages.at(-1);
    if (isObject(last) && typeof last.content === "string") return last.content;
  }
  for (const name of HEARD) {
    const value = observation[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return JSON.stringify(observation);
}

interface Props {
  field: string;
  log: Log;
  busy: boolean;
  onSay: (action: JsonObject) => void;
}

/** The episode as a conversation, and a box to say the next thing. */
export function Chat({ field, log, busy, onSay }: Props) {
  const [text, setText] = useState("");
  const end = useRef<HTMLOListElement>(null);
  const version = log.version.value;
  useEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [version]);
  const say = () => {
    if (busy || text.trim() === "") return;
    onSay({ [field]: text });
    setText("");
  };
  return (
    <section class="play-chat" aria-label="Chat">
      <ol class="play-talk" ref={end} tabIndex={0} aria-label="Conversation" aria-live="polite">
        {newestEpisode(log).map((entry) => (
          <Turn key={entry.index} entry={entry} field={field} />
        ))}
      </ol>
      <form
        class="play-say"
        onSubmit={(event) => {
          event.preventDefault();
          say();
        }}
      >
        <textarea
          aria-label="Say something"
          placeholder="Say something… (Enter sends, Shift+Enter begins a line)"
          rows={2}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            say();
          }}
        />
        <button type="submit" class="button button-primary" aria-disabled={busy || text.trim() === ""}>
          Send
        </button>
      </form>
    </section>
  );
}

function Turn({ entry, field }: { entry: Entry; field: string }) {
  const said = entry.kind === "step" ? entry.action[field] : undefined;
  const heard = entry.error?.message ?? (entry.result ? spoken(entry.result.observation) : "");
  return (
    <li>
      {said !== undefined && <p class="play-said">{asText(said)}</p>}
      {heard !== "" && <p class={entry.error ? "play-heard play-failed" : "play-heard"}>{cut(heard)}</p>}
    </li>
  );
}

function newestEpisode(log: Log): Entry[] {
  const found: Entry[] = [];
  for (let at = log.length - 1; at >= 0 && found.length < MOST; at--) {
    const entry = log.at(at);
    found.push(entry);
    if (entry.kind === "reset" && entry.result) break;
  }
  return found.reverse();
}

function cut(text: string): string {
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
}

function asText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
