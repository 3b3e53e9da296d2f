import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { at, stepsOf } from "../schema/path";
import { placed } from "../schema/place_faults";
import { validate } from "../schema/validate";
import type { Fault, Json, Schema } from "../types";
import type { Drafts } from "./scope";

/** What is wrong with a value: what the check before sending found, or the server said; none outlives a change. */
export interface Checked {
  faults: Fault[];
  /** Which texts are no value. */
  drafts: Drafts;
  /** Whether the value may be sent; if not, what is wrong is shown and the first of it focused. */
  check: (value: Json) => boolean;
  /** Whether the check is all that is in the way: the value could be sent nevertheless. */
  mayInsist: boolean;
  /** Shows nothing as wrong any more. */
  forget: () => void;
  /** Is told of a change. */
  changed: (from: Json, to: Json) => void;
}

interface Found {
  faults: Fault[];
  by: "check" | "drafts" | "server";
}

const NOTHING: Found = { faults: [], by: "server" };

/** The faults of the form within `form`; `told` are those of the server. */
export function useChecked(
  schema: Schema,
  value: Json,
  told: Fault[],
  form: { current: HTMLElement | null },
): Checked {
  const [found, setFound] = useState<Found>(NOTHING);
  const drafts = useRef<Drafts>(new Map()).current;
  const focus = useRef(false);
  const show = (next: Found) => {
    focus.current = next.faults.length > 0;
    setFound(next);
  };
  const news = told.length > 0 ? told : null;
  useEffect(() => show(news ? { faults: placed(schema, value, news), by: "server" } : NOTHING), [news]);
  useLayoutEffect(() => {
    if (!focus.current) return;
    focus.current = false;
    // The fields, which know of their faults by context, are rendered right after this.
    queueMicrotask(() => focusFirst(form.current));
  });
  return {
    faults: found.faults,
    drafts,
    check: (sent) => {
      const unread = [...drafts].map(([pointer, msg]): Fault => ({ loc: stepsOf(pointer), msg }));
      const faults = [...unread, ...validate(schema, sent)];
      show({ faults, by: unread.length > 0 ? "drafts" : "check" });
      return faults.length === 0;
    },
    mayInsist: found.by === "check" && found.faults.length > 0,
    forget: () => setFound(NOTHING),
    changed: (from, to) => setFound((shown) => ({ ...shown, faults: stillWrong(shown.faults, from, to) })),
  };
}

/** Faults of places that did not change; the same list if none did. */
export function stillWrong(faults: Fault[], from: Json, to: Json): Fault[] {
  const left = faults.filter((fault) => at(from, fault.loc) === at(to, fault.loc));
  return left.length === faults.length ? faults : left;
}

/** Puts the focus on the first field that is wrong. */
function focusFirst(form: HTMLElement | null): void {
  const first = form?.querySelector<HTMLElement>(
    "input[aria-invalid], textarea[aria-invalid], select[aria-invalid], [data-fault]",
  );
  first?.focus();
}
