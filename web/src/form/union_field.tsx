import { useRef, useState } from "preact/hooks";
import type { FieldOf } from "../schema/field";
import { initialIn } from "../schema/initial";
import { mayBe, optionOf } from "../schema/options";
import type { Json } from "../types";
import { FieldView } from "./fields";
import { Group, type FieldProps } from "./frame";
import { MayBeLeftOut } from "./leaving_out";
import { idOf, useScope } from "./scope";

/** One of several forms: a choice, and the chosen form's fields. */
export function UnionField(props: FieldProps<FieldOf<"union">>) {
  return <MayBeLeftOut {...props}>{(remove) => <Forms {...props} remove={remove} />}</MayBeLeftOut>;
}

function Forms(props: FieldProps<FieldOf<"union">> & { remove: preact.ComponentChildren }) {
  const { field, pointer, value, label, remove } = props;
  const [current, choose] = useOption(props);
  return (
    <Group
      {...props}
      actions={
        <>
          <OptionSelect field={field} pointer={pointer} current={current} choose={choose} />
          {remove}
        </>
      }
    >
      <FieldView
        key={current}
        schema={field.options[current]!.schema}
        name={field.name}
        hint=""
        pointer={pointer}
        value={value}
        required
        label={label}
        bare
      />
    </Group>
  );
}

/** The option that is shown, and how to show another one: with what was typed in it before. */
function useOption(props: FieldProps<FieldOf<"union">>): [current: number, choose: (next: number) => void] {
  const { field, pointer, value } = props;
  const { root, edit } = useScope();
  const [picked, setPicked] = useState<number | null>(null);
  const left = useRef(new Map<number, Json | undefined>());
  const current =
    picked !== null && mayBe(root, field, picked, value) ? picked : optionOf(root, field, value);
  const choose = (next: number) => {
    left.current.set(current, value);
    setPicked(next);
    const kept = left.current.has(next);
    const schema = field.options[next]!.schema;
    edit(pointer, (kept ? left.current.get(next) : initialIn(root, schema, field.name, 1)) ?? null);
  };
  return [current, choose];
}

interface SelectProps {
  field: FieldOf<"union">;
  pointer: string;
  current: number;
  choose: (option: number) => void;
}

function OptionSelect({ field, pointer, current, choose }: SelectProps) {
  const id = `${idOf(useScope().idPrefix, pointer)}-option`;
  return (
    <>
      <label class="form-limits" for={id}>
        kind
      </label>
      <select
        id={id}
        class="input form-option"
        value={String(current)}
        onChange={(event) => choose(Number(event.currentTarget.value))}
      >
        {field.options.map((option, index) => (
          <option key={index} value={String(index)}>
            {option.label}
          </option>
        ))}
      </select>
    </>
  );
}
