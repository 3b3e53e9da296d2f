import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { documented } from "../schema/attributes";
import { fieldOf } from "../schema/field";
import type { Fault, JsonObject, Schema } from "../types";
import { SchemaForm } from "./fields";
import { Hint } from "./frame";
import { JsonEditor } from "./json_editor";
import { Problems } from "./problems";
import { useRecall } from "./recall";
import { Sending, useFilling, type Filling } from "./sending";

interface Props {
  schema: Schema;
  busy: boolean;
  /** What the server found wrong with the last action. */
  faults: Fault[];
  onSubmit: (value: JsonObject) => void;
  /** The action that was sent `offset` actions ago; 1 is the newest. */
  recall: (offset: number) => JsonObject | undefined;
  submitLabel: string;
  /** Is told the value at first, and whenever it changes. */
  onChange?: (value: JsonObject) => void;
  /** What the form begins with instead of what the schema suggests. */
  initial?: JsonObject | undefined;
}

/** A form for an action, also as JSON, that checks what it sends. */
export function ActionForm({
  busy,
  faults,
  onSubmit,
  recall,
  submitLabel,
  onChange,
  initial,
  ...props
}: Props) {
  const schema = useEqual(props.schema);
  const filling = useFilling({ schema, busy, faults, onSend: onSubmit, initial });
  const [raw, setRaw] = useState(false);
  const onKey = useRecall(filling.value, filling.edit, recall);
  useTold(filling.value, onChange);
  const { checked } = filling;
  return (
    <Sending class="form-action" filling={filling} onKey={raw ? undefined : onKey}>
      <Problems faults={checked.faults} onAnyway={filling.insist} />
      <Summary schema={schema} />
      {raw ? <RawJson filling={filling} /> : <Fields schema={schema} filling={filling} />}
      <div class="form-buttons">
        <button type="submit" class="button button-primary" aria-disabled={busy}>
          {submitLabel}
        </button>
        <span class="form-limits form-keys">Ctrl + Enter{!raw && recall(1) && " · ↑ the last ones"}</span>
        <button
          type="button"
          class="button button-small"
          aria-pressed={raw}
          // What is no JSON could not be taken along.
          onClick={() => (!raw || checked.drafts.size === 0 || checked.check(filling.value)) && setRaw(!raw)}
        >
          JSON
        </button>
      </div>
    </Sending>
  );
}

/** A schema for as long as it says the same: one that is read again is no reason to begin anew. */
function useEqual(schema: Schema): Schema {
  const kept = useRef(schema);
  const alike = useMemo(() => JSON.stringify(kept.current) === JSON.stringify(schema), [schema]);
  if (!alike) kept.current = schema;
  return kept.current;
}

function useTold(value: JsonObject, onChange: ((value: JsonObject) => void) | undefined): void {
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => latest.current?.(value), [value]);
}

function Summary({ schema }: { schema: Schema }) {
  const field = fieldOf(schema, schema);
  const words = documented(field.hint).summary;
  return words && field.kind === "object" ? <Hint text={words} /> : null;
}

/** The fields of a value that is being filled in. */
export function Fields({ schema, filling }: { schema: Schema; filling: Filling }) {
  const { value, edit, checked } = filling;
  return (
    <SchemaForm
      schema={schema}
      value={value}
      onChange={edit}
      faults={checked.faults}
      idPrefix={useId()}
      drafts={checked.drafts}
    />
  );
}

/** The whole as JSON; what is wrong with a part of it is listed below. */
function RawJson({ filling }: { filling: Filling }) {
  const { faults, drafts } = filling.checked;
  // Gone with the editor, so that the form is free of it.
  useEffect(() => () => void drafts.delete(""), [drafts]);
  return (
    <div class="form-field">
      <JsonEditor
        label="The action as JSON"
        value={filling.value}
        invalid={faults.length > 0}
        object
        onChange={filling.edit}
        onError={(error) => (error === null ? drafts.delete("") : drafts.set("", error))}
      />
      <ul class="form-list">
        {faults
          .filter((fault) => fault.loc.length > 0)
          .map((fault) => (
            <li key={fault.loc.join("/")} class="form-fault">
              <code>{fault.loc.join(".")}</code> {fault.msg}
            </li>
          ))}
      </ul>
    </div>
  );
}
