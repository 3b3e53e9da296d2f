import { useId, useState } from "preact/hooks";
import { thousands } from "../figures";
import type { Entry, Environment } from "../types";
import { CopyButton } from "../view/copy";
import { asLines, asPage, download, fileName } from "./files";
import { nameOf } from "./format";
import type { Log } from "./log";
import { Menu } from "./menu";
import { asCurl, asJson, asPython } from "./snippets";

type Scope = "entry" | "episode" | "shown";

interface CopyProps {
  log: Log;
  environment: Environment;
  /** What the filter lets through. */
  shown: readonly Entry[];
  /** The entry that is meant. */
  entry: Entry;
}

/** Copies the entry that is meant, its episode, or all that is shown. */
export function CopyMenu({ log, environment, shown, entry }: CopyProps) {
  const name = useId();
  const [scope, setScope] = useState<Scope>("episode");
  const chosen = (): readonly Entry[] =>
    scope === "entry" ? [entry] : scope === "episode" ? log.episode(entry.episode) : shown;
  const scopes: [Scope, string][] = [
    ["entry", nameOf(entry)],
    ["episode", `Episode ${entry.episode}`],
    ["shown", `All that is shown (${thousands(shown.length)})`],
  ];
  return (
    <Menu label="Copy">
      <fieldset>
        <legend>What to copy</legend>
        {scopes.map(([value, label]) => (
          <label key={value}>
            <input type="radio" name={name} checked={scope === value} onChange={() => setScope(value)} />{" "}
            {label}
          </label>
        ))}
      </fieldset>
      <CopyButton label="Python" text={() => asPython(chosen(), environment)} />
      <CopyButton label="Python, blocking" text={() => asPython(chosen(), environment, "sync")} />
      <CopyButton label="curl" text={() => asCurl(chosen(), environment)} />
      <CopyButton label="JSON" text={() => asJson(chosen())} />
    </Menu>
  );
}

interface FileProps {
  log: Log;
  environment: Environment;
  onSaid: (message: string) => void;
  onOpen?: ((file: File) => Promise<void> | void) | undefined;
}

/** Writes the history as a file, and opens one. */
export function FileMenu({ log, environment, onSaid, onOpen }: FileProps) {
  const attempt = async (work: () => unknown) => {
    onSaid("");
    try {
      await work();
    } catch (error) {
      onSaid(error instanceof Error ? error.message : String(error));
    }
  };
  const lines = () => download(fileName(environment, "jsonl"), asLines(log, environment));
  const page = async () => download(fileName(environment, "html"), await asPage(log, environment));
  return (
    <Menu label="File">
      {log.length > 0 && (
        <>
          <button type="button" class="button" onClick={() => attempt(lines)}>
            Save as JSONL
          </button>
          <button type="button" class="button" onClick={() => attempt(page)}>
            Save as one HTML page
          </button>
        </>
      )}
      {onOpen && <OpenButton onFile={(file) => attempt(() => onOpen(file))} />}
    </Menu>
  );
}

function OpenButton({ onFile }: { onFile: (file: File) => void }) {
  const open = (input: HTMLInputElement) => {
    const [file] = input.files ?? [];
    if (file) onFile(file);
    input.value = ""; // the same file may be opened again
  };
  return (
    <label class="button history-open">
      Open a saved history…
      <input
        class="unseen"
        type="file"
        accept=".jsonl,.html"
        onChange={(event) => open(event.currentTarget)}
      />
    </label>
  );
}
