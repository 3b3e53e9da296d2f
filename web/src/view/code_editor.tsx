import { useRef } from "preact/hooks";
import { Pieces } from "./code";
import { broken, dedented, type Edit, indented } from "./editing";
import { LONGEST } from "./highlight";

interface CodeEditorProps {
  value: string;
  onChange: (value: string) => void;
  language: string;
  label: string;
  id: string;
  /** Ids of what describes the field, such as its help and its faults. */
  describedBy?: string | undefined;
  invalid?: boolean | undefined;
  disabled?: boolean | undefined;
}

/** A field for code: Tab indents, Escape and then Tab leaves it, and it grows with its text. */
export function CodeEditor({
  value,
  onChange,
  language,
  label,
  id,
  describedBy,
  invalid,
  disabled,
}: CodeEditorProps) {
  const leaving = useRef(false);
  const press = (event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    const edit = leaving.current && event.key === "Tab" ? null : editOf(event, language);
    leaving.current = event.key === "Escape" || (leaving.current && event.key === "Shift");
    if (!edit) return;
    event.preventDefault();
    apply(event.currentTarget, edit);
  };
  const layered = value.length <= LONGEST;
  return (
    <div class={layered ? "view-editor" : "view-editor view-editor-plain"}>
      <div class="view-editor-sheet">
        {layered && (
          <pre aria-hidden="true">
            <Pieces text={`${value}\n`} language={language} />
          </pre>
        )}
        <textarea
          id={id}
          aria-label={label}
          aria-describedby={[describedBy, `${id}-keys`].filter(Boolean).join(" ")}
          aria-invalid={invalid || undefined}
          disabled={disabled}
          value={value}
          rows={1}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          onInput={(event) => onChange(event.currentTarget.value)}
          onKeyDown={press}
          onBlur={() => (leaving.current = false)}
        />
      </div>
      <span id={`${id}-keys`} class="unseen">
        Tab indents. Escape, then Tab, leaves the field.
      </span>
    </div>
  );
}

/** The edit that a key is, null where it is the browser's. */
function editOf(
  event: KeyboardEvent & { currentTarget: HTMLTextAreaElement },
  language: string,
): Edit | null {
  const { value, selectionStart, selectionEnd } = event.currentTarget;
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return null;
  if (event.key === "Tab") return (event.shiftKey ? dedented : indented)(value, selectionStart, selectionEnd);
  return event.key === "Enter" && !event.shiftKey
    ? broken(value, selectionStart, selectionEnd, language)
    : null;
}

/** Edits as typing does, so that it can be undone: browsers have no other way to that than the old one. */
function apply(area: HTMLTextAreaElement, { from, to, text, start, end }: Edit): void {
  area.setSelectionRange(from, to);
  const done =
    text === ""
      ? from === to || document.execCommand("delete")
      : document.execCommand("insertText", false, text);
  if (!done) {
    area.setRangeText(text, from, to, "end");
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  area.setSelectionRange(start, end);
}
