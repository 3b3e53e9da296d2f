import { Code } from "./code";
import { Markdown } from "./markdown";
import { LongText, ShortText } from "./text";
import { textForm } from "./texts";

/** A text that somebody or something said, in the form that it has. */
export function Prose({ text, path, label }: { text: string; path: string; label: string }) {
  const form = textForm("", text);
  if (form.form === "code")
    return <Code text={form.text} language={form.language} path={path} label={label} />;
  if (form.form === "markdown") return <Markdown text={text} />;
  if (form.form === "long") return <LongText text={text} mono={form.mono} path={path} label={label} />;
  return (
    <p class="view-said">
      <ShortText text={text} path={path} />
    </p>
  );
}
