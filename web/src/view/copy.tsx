import { useEffect, useState } from "preact/hooks";

const SAID_MS = 1500;

/** A button that copies a text, which is made when it is asked for. */
export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSaid(""), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => setSaid((await copied(text())) ? "Copied" : "Not copied");
  return (
    <button type="button" class="button button-small view-copy" onClick={copy}>
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}

/** Copies a text; browsers give pages without TLS no clipboard but this old way. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
