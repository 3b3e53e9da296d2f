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
  const { root, edit, idPrefix } = useScope();
  const id = idOf(idPrefix, pointer);
  const [picked, setPicked] = useState<number | null>(null);
  const left = useRef(new Map<number, Json | undefined>());
  const current = picked !== null && mayBe(root, field, picked, value) ? picked : optionOf(root, field, value);
  const choose = (next: number) => {
    left.current.set(current, value);
    setPicked(next);
    const kept = left.current.has(next);
    const schema = field.options[next]!.schema;
    edit(pointer, (kept ? left.current.get(next) : initialIn(root, schema, field.name, 1)) ?? null);
  };
  return (
    <Group
      {...props}
      actions={
        <>
          <label class="form-limits" for={`${id}-option`}>kind</label>
          <select
            id={`${id}-option`}
            class="form-input form-option"
            value={String(current)}
            onChange={(event) => choose(Number(event.currentTarget.value))}
          >
            {field.options.map((option, index) => <option key={index} value={String(index)}>{option.label}</option>)}
          </select>
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
