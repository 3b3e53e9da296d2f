import { useReducer, useRef } from "preact/hooks";
import { same } from "../json";
import type { Json } from "../types";

/**
 * The text of an input whose value is not a text: what was typed stays as it was typed ("1.", "1e", "007") for as long
 * as the value is what it was read as; a value from elsewhere is written out.
 */
export function useTyped(
  value: Json | undefined,
  write: (value: Json | undefined) => string,
): [text: string, type: (text: string, read: Json | undefined) => void] {
  const typed = useRef<{ text: string; read: Json | undefined } | null>(null);
  const [, renderAgain] = useReducer((count: number, _: undefined) => count + 1, 0);
  const kept = typed.current !== null && same(typed.current.read, value);
  const text = kept ? typed.current!.text : write(value);
  return [
    text,
    (next, read) => {
      typed.current = { text: next, read };
      renderAgain(undefined);
    },
  ];
}
