import { useState } from "preact/hooks";
import { asPython } from "../history/snippets";
import type { Entry, Environment, JsonObject } from "../types";
import { Code } from "../view/code";

const BLANK = { at: "", latencyMs: 0, episode: 1, total: 0 };

/** The same call in Python: the program that begins an episode and takes this action. */
export function Snippet({ environment, action }: { environment: Environment; action: JsonObject }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="shell-details" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same in Python</summary>
      {open && <Code text={program(environment, action)} language="python" />}
    </details>
  );
}

function program(environment: Environment, action: JsonObject): string {
  const reset: Entry = { ...BLANK, index: 0, kind: "reset", action: {}, step: 0 };
  return asPython([reset, { ...BLANK, index: 1, kind: "step", action, step: 1 }], environment);
}
