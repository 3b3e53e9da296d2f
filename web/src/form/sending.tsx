import type { ComponentChildren, RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { isObject } from "../json";
import { initialValue } from "../schema/initial";
import type { Fault, Json, JsonObject, Schema } from "../types";
import { useChecked, type Checked } from "./use_checked";

/** A value that is being filled in, until it is sent. */
export interface Filling {
  form: RefObject<HTMLFormElement>;
  value: JsonObject;
  edit: (value: Json) => void;
  /** Sends the value if nothing is wrong with it. */
  submit: () => void;
  /** Sends it in spite of what is wrong; undefined where that cannot be. */
  insist: (() => void) | undefined;
  checked: Checked;
}

interface Options {
  schema: Schema;
  busy: boolean;
  /** Those of the server. */
  faults: Fault[];
  onSend: (value: JsonObject) => void;
  initial?: JsonObject | undefined;
}

/** A value of a schema, and what is wrong with it. */
export function useFilling({ schema, busy, faults, onSend, initial }: Options): Filling {
  const form = useRef<HTMLFormElement>(null);
  const [state, setState] = useState(() => ({ schema, value: initial ?? beginning(schema) }));
  // Another schema: nothing of what was typed fits it.
  const current = state.schema === schema ? state : { schema, value: beginning(schema) };
  if (current !== state) setState(current);
  const { value } = current;
  const checked = useChecked(schema, value, faults, form);
  const insist = () => {
    checked.forget();
    onSend(value);
  };
  return {
    form,
    value,
    edit: (next) => {
      if (!isObject(next)) return;
      checked.changed(value, next);
      setState({ schema, value: next });
    },
    submit: () => {
      if (!busy && checked.check(value)) onSend(value);
    },
    insist: checked.mayInsist && !busy ? insist : undefined,
    checked,
  };
}

function beginning(schema: Schema): JsonObject {
  const value = initialValue(schema);
  return isObject(value) ? value : {};
}

interface SendingProps {
  filling: Filling;
  class: string;
  onKey?: ((event: KeyboardEvent) => void) | undefined;
  children: ComponentChildren;
}

/** A form that is sent by its button, by Enter in a line, and by Ctrl-Enter or Cmd-Enter anywhere in it. */
export function Sending({ filling, class: name, onKey, children }: SendingProps) {
  return (
    <form
      ref={filling.form}
      class={name}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        filling.submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing)
          return onKey?.(event);
        event.preventDefault();
        filling.submit();
      }}
    >
      {children}
    </form>
  );
}
