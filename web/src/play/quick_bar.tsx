import { useEffect, useRef } from "preact/hooks";
import type { JsonObject, QuickAction } from "../types";
import { keyName } from "./quick";
import "./play.css";

const TYPING = "input, textarea, select, [contenteditable], [role=grid], [role=listbox], [role=tree]";

interface Props {
  actions: QuickAction[];
  busy: boolean;
  keys: boolean;
  onKeys: (on: boolean) => void;
  onAct: (action: JsonObject) => void;
}

/** Buttons for single actions, and their keys while nobody types. */
export function QuickBar({ actions, busy, keys, onKeys, onAct }: Props) {
  useKeys(actions, keys && !busy, onAct);
  return (
    <section class="play-quick" aria-label="Quick actions">
      <div class="play-buttons">
        {actions.map((each) => (
          <button
            key={each.label}
            type="button"
            class="button play-button"
            aria-disabled={busy}
            aria-keyshortcuts={keys && each.key ? shortcut(each.key) : undefined}
            onClick={() => !busy && onAct(each.action)}
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

/** Takes the action that a key stands for; the frame of the environment's view tells its keys, too. */
export function actByKey(actions: QuickAction[], key: string, onAct: (action: JsonObject) => void) {
  const found = actions.find((each) => each.key?.toLowerCase() === key.toLowerCase());
  if (found) onAct(found.action);
  return found !== undefined;
}

function useKeys(actions: QuickAction[], on: boolean, onAct: (action: JsonObject) => void) {
  const now = useRef({ actions, on, onAct });
  now.current = { actions, on, onAct };
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target instanceof Element ? event.target : document.body;
      if (target.closest(TYPING)) return;
      if (event.key === " " && target.closest("button, a, summary")) return;
      const known = now.current.actions.some((each) => each.key === event.key);
      if (known) event.preventDefault(); // an arrow must not scroll, also while a step runs
      if (now.current.on) actByKey(now.current.actions, event.key, now.current.onAct);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

function shortcut(key: string): string {
  return key === " " ? "Space" : key;
}
