import { same } from "../json";
import type { FieldOf } from "../schema/field";
import { shown } from "../schema/words";
import { Frame, useControl, type FieldProps } from "./frame";
import { useScope } from "./scope";

/** What can be but one value is not shown, unless it is another one or missing. */
export function ConstField(props: FieldProps<FieldOf<"const">>) {
  const { field, pointer, value, required, bare } = props;
  const { edit } = useScope();
  const control = useControl(props);
  if (same(field.value, value) || (value === undefined && !required)) {
    return bare ? <p class="form-hint">{shown(field.value)}</p> : null;
  }
  return (
    <Frame {...props}>
      <button
        id={control.id}
        aria-describedby={control["aria-describedby"]}
        data-fault={control["aria-invalid"]}
        type="button"
        class="button button-small"
        onClick={() => edit(pointer, field.value)}
      >
        Set to {shown(field.value)}
      </button>
    </Frame>
  );
}
