import { useEffect, useRef } from "preact/hooks";
import type { JsonObject, QuickAction } from "../types";
import { type Button, isCross, keyName } from "./quick";
import "./play.css";

const TYPING =
  "input, textarea, select, [contenteditable], [role=grid], [role=listbox], [role=tree], [role=tablist]";

interface Props {
  actions: Button[];
  busy: boolean;
  keys: boolean;
  /** Whether they are listened to now. */
  listens: boolean;
  onKeys: (on: boolean) => void;
  onAct: (action: JsonObject) => void;
}

/** Buttons for single actions, and their keys while nobody types. */
export function QuickBar({ actions, busy, keys, listens, onKeys, onAct }: Props) {
  useKeys(actions, listens, busy, onAct);
  const cross = isCross(actions);
  return (
    <section id="quick" class="play-quick" aria-label="Quick actions" tabIndex={-1}>
      <div class={cross ? "play-buttons play-cross" : "play-buttons"}>
        {actions.map((each) => (
          <button
            key={each.label}
            type="button"
            class={`button play-button play-${each.key ?? "other"}`}
            aria-disabled={busy || !each.offered}
            aria-keyshortcuts={keys && each.key ? shortcut(each.key) : undefined}
            onClick={() => !busy && each.offered && onAct(each.action)}
          >
            {each.label}
            {keys && each.key && <kbd aria-hidden="true">{keyName(each.key)}</kbd>}
          </button>
        ))}
      </div>
      <label class="play-keys">
        <input type="checkbox" checked={keys} onChange={(event) => onKeys(event.currentTarget.checked)} />
        Play by keys
      </label>
    </section>
  );
}

/** Takes the action that a key stands for, if it is offered; the frame of the environment's view tells keys, too. */
export function actByKey(actions: Button[], key: string, onAct: (action: JsonObject) => void): void {
  const found = named(actions, key);
  if (found?.offered) onAct(found.action);
}

function named<Each extends QuickAction>(actions: Each[], key: string): Each | undefined {
  return actions.find((each) => each.key?.toLowerCase() === key.toLowerCase());
}

function useKeys(actions: Button[], on: boolean, busy: boolean, onAct: Props["onAct"]) {
  const now = useRef({ actions, on, busy, onAct });
  now.current = { actions, on, busy, onAct };
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { actions, on, busy, onAct } = now.current;
      if (!on || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target instanceof Element ? event.target : document.body;
      if (target.closest(TYPING) || (event.key === " " && target.closest("button, a, summary"))) return;
      // A key of the game does nothing else, also while its action is not offered: the page must not scroll.
      const arrows = event.key.startsWith("Arrow") && actions.some((each) => each.key?.startsWith("Arrow"));
      if (arrows || named(actions, event.key)) event.preventDefault();
      if (!busy) actByKey(actions, event.key, onAct);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

function shortcut(key: string): string {
  return key === " " ? "Space" : key;
}
