import type { ComponentChildren } from "preact";
import type { Field } from "../schema/field";
import { begun } from "../schema/initial";
import { shown } from "../schema/words";
import { Absent, type FieldProps } from "./frame";
import { useScope } from "./scope";

/** Whether null says something else than leaving the field out does. */
function nullMatters(field: Field, required: boolean): boolean {
  return field.nullable && (required || (field.fallback !== undefined && field.fallback !== null));
}

/** Sends null. */
export function NullButton({ field, pointer, value, required, label }: FieldProps) {
  const { edit } = useScope();
  if (!nullMatters(field, required)) return null;
  return (
    <button
      type="button"
      class="button button-small"
      aria-pressed={value === null}
      aria-label={`${label}: null`}
      onClick={() => edit(pointer, value === null && !required ? undefined : null)}
    >
      null
    </button>
  );
}

/** A field of several parts that may be left out: a line that offers it, until it is wanted. */
export function MayBeLeftOut(
  props: FieldProps & { children: (remove: ComponentChildren) => ComponentChildren },
) {
  const { field, pointer, value, required, label, children } = props;
  const { root, edit } = useScope();
  const absent = value === undefined || (value === null && field.nullable);
  if (!absent) {
    const gone = required ? null : undefined;
    return (
      <>
        {children(
          (!required || field.nullable) && (
            <button
              type="button"
              class="button button-small"
              aria-label={`${required ? "null for" : "Leave out"} ${label}`}
              onClick={() => edit(pointer, gone)}
            >
              {required ? "null" : "Leave out"}
            </button>
          ),
        )}
      </>
    );
  }
  return (
    <Absent {...props}>
      <span class="form-limits">{absentWords(props)}</span>
      <button
        type="button"
        class="button button-small"
        aria-label={`Set ${label}`}
        onClick={() => edit(pointer, begun(root, field))}
      >
        Set
      </button>
      <NullButton {...props} />
    </Absent>
  );
}

function absentWords({ field, value, required }: FieldProps): string {
  if (value === null) return "null";
  if (field.fallback !== undefined && field.fallback !== null) return `default: ${shown(field.fallback)}`;
  return required ? "needed" : "left out";
}
