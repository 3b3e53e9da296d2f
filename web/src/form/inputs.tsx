import type { FieldOf } from "../schema/field";
import { placeholderOf } from "../schema/limits";
import type { Json } from "../types";
import { CodeEditor } from "../view/code_editor";
import { Frame, Hint, useControl, type FieldProps } from "./frame";
import { NullButton } from "./leaving_out";
import { readNumber } from "./numbers";
import { useScope } from "./scope";
import { useTyped } from "./typed";

const PLAIN = { autocomplete: "off", autocapitalize: "off", spellcheck: false } as const;
const KEYBOARDS: Record<string, "email" | "url"> = { email: "email", uri: "url" };

/** What a text that was emptied means: an optional one is left out. */
function textOr(text: string, required: boolean): string | undefined {
  return text === "" && !required ? undefined : text;
}

/** What a value reads as in an input for text: one of another type stays visible. */
function asText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** One line of text. */
export function StringInput(props: FieldProps<FieldOf<"string">>) {
  const { field, pointer, value, required } = props;
  const { edit } = useScope();
  const text = asText(value);
  const date = field.format === "date" && /^(\d{4}-\d{2}-\d{2})?$/.test(text);
  return (
    <Frame {...props}>
      <div class="form-line">
        <input
          {...useControl(props)}
          {...PLAIN}
          class="input"
          type={date ? "date" : "text"}
          inputMode={KEYBOARDS[field.format] ?? "text"}
          placeholder={placeholderOf(field, required, value)}
          value={text}
          onInput={(event) => edit(pointer, textOr(event.currentTarget.value, required))}
        />
        <NullButton {...props} />
      </div>
    </Frame>
  );
}

const MOST_ROWS = 12;

/** Text of several lines. */
export function TextInput(props: FieldProps<FieldOf<"text">>) {
  const { field, pointer, value, required } = props;
  const { edit } = useScope();
  const text = asText(value);
  return (
    <Frame {...props}>
      <div class="form-line">
        <textarea
          {...useControl(props)}
          class="input"
          rows={Math.min(MOST_ROWS, Math.max(2, text.split("\n").length))}
          placeholder={placeholderOf(field, required, value)}
          value={text}
          onInput={(event) => edit(pointer, textOr(event.currentTarget.value, required))}
        />
        <NullButton {...props} />
      </div>
    </Frame>
  );
}

/** Code. */
export function CodeInput(props: FieldProps<FieldOf<"code">>) {
  const { field, pointer, value, required, label } = props;
  const { edit } = useScope();
  const control = useControl(props);
  return (
    <Frame {...props}>
      <div class="form-line">
        <CodeEditor
          id={control.id}
          label={label}
          language={field.language}
          value={asText(value)}
          onChange={(text) => edit(pointer, textOr(text, required))}
          describedBy={control["aria-describedby"]}
          invalid={control["aria-invalid"]}
        />
        <NullButton {...props} />
      </div>
    </Frame>
  );
}

/** A number, and a slider where it has bounds that are near each other. */
export function NumberInput(props: FieldProps<FieldOf<"number">>) {
  const { field, pointer, value, required, label } = props;
  const { edit } = useScope();
  const [text, type] = useTyped(value, asText);
  const enter = (next: string) => {
    const read = readNumber(next, field, required && field.nullable ? null : undefined);
    type(next, read);
    edit(pointer, read);
  };
  return (
    <Frame {...props}>
      <div class="form-line">
        <input
          {...useControl(props)}
          {...PLAIN}
          class="input form-number"
          type="text"
          inputMode={
            field.min !== undefined && field.min >= 0 ? (field.integer ? "numeric" : "decimal") : "text"
          }
          placeholder={placeholderOf(field, required, value)}
          value={text}
          onInput={(event) => enter(event.currentTarget.value)}
        />
        {field.slider && (
          <input
            class="form-range"
            type="range"
            aria-label={`${label}, slider`}
            min={field.min}
            max={field.max}
            step={field.step ?? (field.integer ? 1 : (field.max! - field.min!) / 100)}
            value={
              typeof value === "number"
                ? value
                : typeof field.fallback === "number"
                  ? field.fallback
                  : field.min
            }
            onInput={(event) => enter(event.currentTarget.value)}
          />
        )}
        <NullButton {...props} />
      </div>
    </Frame>
  );
}

/** Yes or no; where it is left out, the default is shown. */
export function BooleanInput(props: FieldProps<FieldOf<"boolean">>) {
  const { field, pointer, value, required, label } = props;
  const { edit } = useScope();
  const checked = value === undefined ? field.fallback === true : value === true;
  const control = useControl(props);
  const odd = value !== undefined && typeof value !== "boolean" && value !== null;
  return (
    <Frame {...props} bare labelled={false}>
      <div class="form-line">
        <label class="form-check">
          <input
            {...control}
            type="checkbox"
            checked={checked}
            onChange={(event) => edit(pointer, event.currentTarget.checked)}
          />
          <span>{odd ? `${label} (now ${JSON.stringify(value)})` : label}</span>
        </label>
        {!required && value === undefined && <span class="form-limits">default</span>}
      </div>
      {field.hint !== "" && !props.bare && <Hint id={`${control.id}-hint`} text={field.hint} />}
    </Frame>
  );
}
