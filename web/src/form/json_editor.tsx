import { useId } from "preact/hooks";
import { isObject } from "../json";
import { parseJson } from "../schema/json_text";
import type { Json } from "../types";
import { CodeEditor } from "../view/code_editor";
import { useTyped } from "./typed";
import "./form.css";

interface Props {
  value: Json | undefined;
  onChange: (value: Json) => void;
  label: string;
  id?: string;
  /** What an empty text means; without it, it is no JSON. */
  onEmpty?: (() => void) | undefined;
  /** Why the text is no JSON, null once it is. */
  onError?: (error: string | null) => void;
  /** Whether what is wrong with the text is said elsewhere. */
  quiet?: boolean;
  /** Whether nothing but an object will do. */
  object?: boolean;
  describedBy?: string | undefined;
  invalid?: boolean;
}

/** JSON as text. Only what reads as JSON is passed on; of anything else it says where it stops being JSON. */
export function JsonEditor(props: Props) {
  const {
    value,
    onChange,
    label,
    id,
    onEmpty,
    onError,
    object = false,
    quiet = false,
    describedBy,
    invalid,
  } = props;
  const own = useId();
  const [text, type] = useTyped(value, (next) => (next === undefined ? "" : JSON.stringify(next, null, 2)));
  const { error } = read(text, onEmpty !== undefined || value === undefined, object);
  const errorId = `${own}-error`;
  const enter = (next: string) => {
    const result = read(next, onEmpty !== undefined, object);
    // A text that is no JSON stands for what was there before.
    type(next, result.error === null ? result.value : value);
    onError?.(result.error);
    if (result.error !== null) return;
    if (result.value === undefined) onEmpty?.();
    else onChange(result.value);
  };
  return (
    <div class="form-json">
      <CodeEditor
        id={id ?? own}
        label={label}
        language="json"
        value={text}
        onChange={enter}
        describedBy={[describedBy, error && errorId].filter(Boolean).join(" ") || undefined}
        invalid={invalid || error !== null}
      />
      <p id={errorId} class="form-fault" role="status">
        {quiet ? null : error}
      </p>
    </div>
  );
}

/** The value of a text, undefined for an empty one, or what is wrong with it. */
function read(text: string, mayBeEmpty: boolean, object: boolean): { value?: Json; error: string | null } {
  if (mayBeEmpty && text.trim() === "") return { error: null };
  const parsed = parseJson(text);
  if (parsed.error !== undefined) return { error: `Line ${parsed.line}: ${parsed.error}` };
  if (object && !isObject(parsed.value)) return { error: "Line 1: an object is expected: {…}" };
  return { value: parsed.value, error: null };
}
