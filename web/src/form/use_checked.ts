import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { at, stepsOf } from "../schema/path";
import { placed } from "../schema/place_faults";
import { validate } from "../schema/validate";
import type { Fault, Json, Schema } from "../types";
import type { Drafts } from "./scope";

/** What is wrong with a value: what the check before sending found, and what the server said; neither outlives a change. */
export interface Checked {
  faults: Fault[];
  /** Which texts are no value. */
  drafts: Drafts;
  /** Whether the value may be sent; if not, what is wrong is shown and the first of it focused. */
  check: (value: Json) => boolean;
  /** Is told of a change. */
  changed: (from: Json, to: Json) => void;
}

/** The faults of the form within `form`; `told` are those of the server. */
export function useChecked(
  schema: Schema,
  value: Json,
  told: Fault[],
  form: { current: HTMLElement | null },
): Checked {
  const [faults, setFaults] = useState<Fault[]>([]);
  const drafts = useRef<Drafts>(new Map()).current;
  const focus = useRef(false);
  const show = (next: Fault[]) => {
    focus.current = next.length > 0;
    setFaults(next);
  };
  useEffect(() => show(told.length > 0 ? placed(schema, value, told) : []), [told.length > 0 ? told : null]);
  useLayoutEffect(() => {
    if (!focus.current) return;
    focus.current = false;
    focusFirst(form.current);
  });
  return {
    faults,
    drafts,
    check: (sent) => {
      const unread = [...drafts].map(([pointer, msg]): Fault => ({ loc: stepsOf(pointer), msg }));
      const wrong = [...unread, ...validate(schema, sent)];
      show(wrong);
      return wrong.length === 0;
    },
    changed: (from, to) => setFaults((shown) => stillWrong(shown, from, to)),
  };
}

/** Faults of places that did not change; the same list if none did. */
export function stillWrong(faults: Fault[], from: Json, to: Json): Fault[] {
  const left = faults.filter((fault) => at(from, fault.loc) === at(to, fault.loc));
  return left.length === faults.length ? faults : left;
}

function focusFirst(form: HTMLElement | null): void {
  const first = form?.querySelector<HTMLElement>(
    "input[aria-invalid], textarea[aria-invalid], select[aria-invalid], [data-fault]",
  );
  first?.focus();
}
