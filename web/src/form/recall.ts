import { useLayoutEffect, useRef } from "preact/hooks";
import type { JsonObject } from "../types";

type TextField = HTMLInputElement | HTMLTextAreaElement;

/** Whether a key in a text field asks for an earlier (1) or later (-1) action, 0 if it moves the caret. */
export function recallStep(key: string, field: Caret, untouched: boolean): -1 | 0 | 1 {
  const step = key === "ArrowUp" ? 1 : key === "ArrowDown" ? -1 : 0;
  if (step === 0 || field.from !== field.to) return 0;
  if (field.lines === "one") return step;
  const atEdge = step === 1 ? field.from === 0 : field.from === field.length;
  return untouched && atEdge ? step : 0;
}

/** Where the caret of a text field is. */
export interface Caret {
  lines: "one" | "many";
  from: number;
  to: number;
  length: number;
}

function caretOf(field: TextField): Caret {
  const [from, to] = [field.selectionStart ?? 0, field.selectionEnd ?? 0];
  return { lines: field instanceof HTMLInputElement ? "one" : "many", from, to, length: field.value.length };
}

function isTextField(target: EventTarget | null): target is TextField {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && target.type === "text";
}

/**
 * ↑ and ↓ in a text field, as in a shell: earlier actions, and back to what was being typed.
 *
 * Args are the value that is shown, how to show another one, and where earlier actions are (1 is the newest).
 */
export function useRecall(
  value: JsonObject,
  show: (value: JsonObject) => void,
  recall: (offset: number) => JsonObject | undefined,
) {
  const offset = useRef(0);
  const typed = useRef<JsonObject>(value);
  const shown = useRef<JsonObject | null>(null);
  const caret = useRef<{ field: TextField; step: number } | null>(null);
  useLayoutEffect(() => {
    const moved = caret.current;
    caret.current = null;
    if (!moved || document.activeElement !== moved.field) return;
    // At the edge that the next press goes on from.
    const at = moved.step === 1 ? 0 : moved.field.value.length;
    moved.field.setSelectionRange(at, at);
  });
  return (event: KeyboardEvent) => {
    const { target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (!isTextField(target) || event.isComposing) return;
    if (shown.current !== value) [offset.current, typed.current] = [0, value];
    const untouched = offset.current > 0 || target.value === "";
    const step = recallStep(event.key, caretOf(target), untouched);
    const next = offset.current + step;
    if (step === 0 || next < 0) return;
    const found = next === 0 ? typed.current : recall(next);
    if (!found) return;
    event.preventDefault();
    [offset.current, shown.current] = [next, found];
    caret.current = { field: target, step };
    show(found);
  };
}
