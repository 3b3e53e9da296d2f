import type { FieldOf } from "../schema/field";
import { same } from "../schema/path";
import type { Json } from "../types";
import { Frame, useControl, type FieldProps } from "./frame";
import { useScope } from "./scope";

interface Choice {
  words: string;
  value: Json | undefined;
}

const MOST_BUTTONS = 5;
const WIDEST_BUTTONS = 36;

/** One of a few values: buttons where they are few and short, else a list to choose from. */
export function ChoiceInput(props: FieldProps<FieldOf<"choice">>) {
  const choices = choicesOf(props);
  const width = choices.reduce((total, choice) => total + choice.words.length, 0);
  const few = choices.length <= MOST_BUTTONS && width <= WIDEST_BUTTONS;
  return few ? <Radios {...props} choices={choices} /> : <Select {...props} choices={choices} />;
}

function choicesOf({ field, value, required }: FieldProps<FieldOf<"choice">>): Choice[] {
  const options = field.options.map((option): Choice => ({ words: wordsOf(option), value: option }));
  // To leave it out and to send null are the same where null is the default.
  const all = required || field.fallback !== null ? options : options.filter((option) => option.value !== null);
  const chosen = value === undefined || all.some((choice) => same(choice.value, value));
  const odd = chosen ? [] : [{ words: wordsOf(value), value }];
  return [...(required ? [] : [{ words: absentWords(field), value: undefined }]), ...all, ...odd];
}

function wordsOf(value: Json): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}

function absentWords({ fallback }: FieldOf<"choice">): string {
  return fallback === undefined || fallback === null ? "not set" : `${wordsOf(fallback)} (default)`;
}

type ChoicesProps = FieldProps<FieldOf<"choice">> & { choices: Choice[] };

function Radios(props: ChoicesProps) {
  const { pointer, value, choices } = props;
  const { edit } = useScope();
  const { id, "aria-describedby": described, "aria-invalid": invalid, "aria-required": required } = useControl(props);
  return (
    <Frame {...props} labelled={false}>
      <div class="form-radios" role="radiogroup" aria-labelledby={`${id}-label`} aria-describedby={described} aria-required={required}>
        {choices.map((choice, index) => (
          <label key={index} class="form-radio">
            <input
              id={index === 0 ? id : undefined}
              type="radio"
              name={id}
              aria-invalid={invalid}
              checked={same(choice.value, value)}
              onChange={() => edit(pointer, choice.value)}
            />
            <span>{choice.words}</span>
          </label>
        ))}
      </div>
    </Frame>
  );
}

function Select(props: ChoicesProps) {
  const { pointer, value, choices } = props;
  const { edit } = useScope();
  const chosen = choices.findIndex((choice) => same(choice.value, value));
  return (
    <Frame {...props}>
      <select
        {...useControl(props)}
        class="form-input"
        value={String(chosen)}
        onChange={(event) => edit(pointer, choices[Number(event.currentTarget.value)]?.value)}
      >
        {chosen < 0 && <option value="-1" disabled>choose…</option>}
        {choices.map((choice, index) => <option key={index} value={String(index)}>{choice.words}</option>)}
      </select>
    </Frame>
  );
}
