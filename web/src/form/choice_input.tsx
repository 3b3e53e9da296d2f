import { same } from "../json";
import type { FieldOf } from "../schema/field";
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
  const { fallback } = field;
  const choices = field.options.map((option): Choice => {
    const isDefault = !required && same(option, fallback);
    return {
      words: isDefault ? absentWords(option) : wordsOf(option),
      value: isDefault ? undefined : option,
    };
  });
  if (!required && !choices.some((choice) => choice.value === undefined)) {
    choices.unshift({ words: absentWords(fallback), value: undefined });
  }
  const known = choices.some((choice) => isChosen(choice, value, fallback));
  return known || value === undefined ? choices : [...choices, { words: wordsOf(value), value }];
}

/** To leave a field out and to send its default are the same choice. */
function isChosen(choice: Choice, value: Json | undefined, fallback: Json | undefined): boolean {
  return same(choice.value, value) || (choice.value === undefined && same(value, fallback));
}

function wordsOf(value: Json): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}

function absentWords(fallback: Json | undefined): string {
  return fallback === undefined || fallback === null ? "not set" : `${wordsOf(fallback)} (default)`;
}

type ChoicesProps = FieldProps<FieldOf<"choice">> & { choices: Choice[] };

function Radios(props: ChoicesProps) {
  const { field, pointer, value, choices } = props;
  const { edit } = useScope();
  const {
    id,
    "aria-describedby": described,
    "aria-invalid": invalid,
    "aria-required": required,
  } = useControl(props);
  return (
    <Frame {...props} labelled={false}>
      <div
        class="form-radios"
        role="radiogroup"
        aria-labelledby={`${id}-label`}
        aria-describedby={described}
        aria-invalid={invalid}
        aria-required={required}
      >
        {choices.map((choice, index) => (
          <label key={index} class="form-radio">
            <input
              id={index === 0 ? id : undefined}
              type="radio"
              name={id}
              data-fault={index === 0 ? invalid : undefined}
              checked={isChosen(choice, value, field.fallback)}
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
  const { field, pointer, value, choices } = props;
  const { edit } = useScope();
  const chosen = choices.findIndex((choice) => isChosen(choice, value, field.fallback));
  return (
    <Frame {...props}>
      <select
        {...useControl(props)}
        class="input"
        value={String(chosen)}
        onChange={(event) => edit(pointer, choices[Number(event.currentTarget.value)]?.value)}
      >
        {chosen < 0 && (
          <option value="-1" disabled>
            choose…
          </option>
        )}
        {choices.map((choice, index) => (
          <option key={index} value={String(index)}>
            {choice.words}
          </option>
        ))}
      </select>
    </Frame>
  );
}
