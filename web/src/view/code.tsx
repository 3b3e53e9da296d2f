import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import "./code.css";
import { type Piece, pieces } from "./highlight";
import { More, usePortion } from "./more";
import { useScroll } from "./places";
import { cut } from "./texts";

const FIRST = 8000;

/** A code's coloured pieces. */
export function Pieces({ text, language }: { text: string; language: string }) {
  const all = useMemo(() => pieces(text, language), [text, language]);
  return <>{all.map(Coloured)}</>;
}

function Coloured({ type, content }: Piece): VNode {
  const inner = typeof content === "string" ? content : content.map(Coloured);
  return type ? <span class={`view-token-${type}`}>{inner}</span> : <>{inner}</>;
}

/** Code to read: highlighted, cut where it is long. */
export function Code({
  text,
  language,
  path = "code",
  label = "Code",
}: {
  text: string;
  language: string;
  path?: string;
  label?: string;
}) {
  const portion = usePortion(path, FIRST, text.length);
  const scroll = useScroll<HTMLPreElement>(`scroll:${path}`);
  return (
    <div class="view-block">
      <pre class="view-code" tabIndex={0} role="group" aria-label={label} {...scroll}>
        <code>
          <Pieces text={cut(text, portion.shown)} language={language} />
        </code>
      </pre>
      <More portion={portion} unit="characters" />
    </div>
  );
}
