import { useEffect, useRef, useState } from "preact/hooks";
import type { Log } from "../history/log";
import type { Entry, JsonObject } from "../types";
import { answered, asked } from "./spoken";
import "./play.css";

const MOST = 200;

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
          class="input"
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
  const said = asked(entry, field);
  const { text, failed } = answered(entry);
  return (
    <li>
      {said !== "" && <p class="play-said">{said}</p>}
      {text !== "" && <p class={failed ? "play-heard play-failed" : "play-heard"}>{text}</p>}
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
