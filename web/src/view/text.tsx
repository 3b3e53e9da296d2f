import { More, usePortion } from "./more";
import { useScroll } from "./places";
import { cut } from "./texts";

const FIRST = 4000;

/** A long text as it is: spaces and line breaks kept, cut where it is very long. */
export function LongText({
  text,
  path,
  label,
  mono = false,
  bad = false,
}: {
  text: string;
  path: string;
  label: string;
  mono?: boolean;
  bad?: boolean;
}) {
  const portion = usePortion(path, FIRST, text.length);
  const scroll = useScroll<HTMLPreElement>(`scroll:${path}`);
  const looks = `view-text${mono ? " view-mono" : ""}${bad ? " view-bad" : ""}`;
  return (
    <div class="view-block">
      <pre class={looks} tabIndex={0} role="group" aria-label={label} {...scroll}>
        {cut(text, portion.shown)}
      </pre>
      <More portion={portion} unit="characters" />
    </div>
  );
}

/** A text in a line, cut where it is long. */
export function ShortText({ text, path }: { text: string; path: string }) {
  const portion = usePortion(path, FIRST / 10, text.length);
  return (
    <>
      <span class="view-inline">{cut(text, portion.shown)}</span>
      <More portion={portion} unit="characters" />
    </>
  );
}
