import { useId, useMemo, useRef, useState } from "preact/hooks";
import { isObject } from "../schema/path";
import type { Fault, Json, JsonObject, Schema } from "../types";
import { beginning, isSend } from "./action_form";
import { SchemaForm } from "./fields";
import { Problems } from "./problems";
import { useChecked } from "./use_checked";

interface Props {
  /** What the environment's reset takes; null where the server does not say. */
  schema: Schema | null;
  busy: boolean;
  faults: Fault[];
  onReset: (kwargs: JsonObject) => void;
}

/** What every environment may be asked for. */
const USUAL: Record<string, Schema> = {
  seed: {
    anyOf: [{ type: "integer" }, { type: "null" }],
    default: null,
    title: "Seed",
    description: "The same seed begins the same episode.",
  },
  episode_id: {
    anyOf: [{ type: "string" }, { type: "null" }],
    default: null,
    title: "Episode id",
    description: "A name of your own for the episode.",
  },
};

/** Begins an episode: at once, or with options. */
export function ResetForm({ schema, busy, faults, onReset }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const prefix = useId();
  const whole = useMemo(() => resetSchema(schema), [schema]);
  const [value, setValue] = useState<JsonObject>(() => beginning(whole));
  const checked = useChecked(whole, value, faults, form);
  const edit = (next: Json) => {
    if (!isObject(next)) return;
    checked.changed(value, next);
    setValue(next);
  };
  const submit = () => {
    if (!busy && checked.check(value)) onReset(value);
  };
  const count = Object.keys(value).length;
  return (
    <form
      ref={form}
      class="form-reset"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (!isSend(event)) return;
        event.preventDefault();
        submit();
      }}
    >
      <button type="submit" class="button" aria-disabled={busy}>Reset</button>
      <details class="form-options" open={checked.faults.length > 0 || undefined}>
        <summary>Options{count > 0 && ` (${count})`}</summary>
        <SchemaForm
          schema={whole}
          value={value}
          onChange={edit}
          faults={checked.faults}
          idPrefix={prefix}
          drafts={checked.drafts}
        />
      </details>
      <Problems faults={checked.faults} />
    </form>
  );
}

/** What reset takes, the usual first; anything else may be added, for the environment to judge. */
function resetSchema(schema: Schema | null): Schema {
  return {
    ...schema,
    type: "object",
    properties: { ...USUAL, ...schema?.properties },
    additionalProperties: schema?.additionalProperties ?? true,
  };
}
