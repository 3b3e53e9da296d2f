import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { documented } from "../schema/attributes";
import { fieldOf } from "../schema/field";
import { initialValue } from "../schema/initial";
import { isObject } from "../schema/path";
import type { Fault, Json, JsonObject, Schema } from "../types";
import { SchemaForm } from "./fields";
import { Hint } from "./frame";
import { JsonEditor } from "./json_editor";
import { Problems } from "./problems";
import { useRecall } from "./recall";
import { useChecked } from "./use_checked";

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
export function ActionForm({ schema, busy, faults, onSubmit, recall, submitLabel, onChange, initial }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const prefix = useId();
  const stable = useEqual(schema);
  const [value, setValue] = useValue(stable, initial, onChange);
  const [raw, setRaw] = useState(false);
  const checked = useChecked(stable, value, faults, form);
  const edit = (next: Json) => {
    if (!isObject(next)) return;
    checked.changed(value, next);
    setValue(next);
  };
  const onKey = useRecall(value, edit, recall);
  const submit = () => {
    if (!busy && checked.check(value)) onSubmit(value);
  };
  return (
    <form
      ref={form}
      class="form-action"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={(event) => {
        if (isSend(event)) {
          event.preventDefault();
          submit();
        } else if (!raw) onKey(event);
      }}
    >
      <Problems faults={checked.faults} />
      <Summary schema={stable} />
      {raw ? (
        <RawJson value={value} onChange={edit} drafts={checked.drafts} faults={checked.faults} />
      ) : (
        <SchemaForm
          schema={stable}
          value={value}
          onChange={edit}
          faults={checked.faults}
          idPrefix={prefix}
          drafts={checked.drafts}
        />
      )}
      <div class="form-buttons">
        <button type="submit" class="button button-primary" aria-disabled={busy}>{submitLabel}</button>
        <span class="form-limits form-keys">Ctrl + Enter</span>
        <button
          type="button"
          class="form-small"
          aria-pressed={raw}
          onClick={() => {
            // What is no JSON could not be taken along.
            if (!raw || checked.drafts.size === 0 || checked.check(value)) setRaw(!raw);
          }}
        >
          JSON
        </button>
      </div>
    </form>
  );
}

/** Whether a key sends a form from anywhere in it. */
export function isSend(event: KeyboardEvent): boolean {
  return event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing;
}

/** A schema for as long as it says the same: one that is read again is no reason to begin anew. */
function useEqual(schema: Schema): Schema {
  const kept = useRef(schema);
  const alike = useMemo(() => kept.current === schema || JSON.stringify(kept.current) === JSON.stringify(schema), [schema]);
  if (!alike) kept.current = schema;
  return kept.current;
}

function useValue(
  schema: Schema,
  initial: JsonObject | undefined,
  onChange: ((value: JsonObject) => void) | undefined,
): [JsonObject, (value: JsonObject) => void] {
  const [state, setState] = useState(() => ({ schema, value: initial ?? beginning(schema) }));
  // Another schema: nothing of what was typed fits it.
  const current = state.schema === schema ? state : { schema, value: beginning(schema) };
  if (current !== state) setState(current);
  const told = useRef(onChange);
  told.current = onChange;
  useEffect(() => told.current?.(current.value), [current.value]);
  return [current.value, (value) => setState({ schema, value })];
}

/** What the form of an action begins with. */
export function beginning(schema: Schema): JsonObject {
  const value = initialValue(schema);
  return isObject(value) ? value : {};
}

function Summary({ schema }: { schema: Schema }) {
  const field = fieldOf(schema, schema);
  const words = documented(field.hint).summary;
  return words && field.kind === "object" ? <Hint text={words} /> : null;
}

interface RawJsonProps {
  value: JsonObject;
  onChange: (value: Json) => void;
  drafts: Map<string, string>;
  faults: Fault[];
}

/** The whole as JSON; what is wrong with a part of it is listed below. */
function RawJson({ value, onChange, drafts, faults }: RawJsonProps) {
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    if (error === null) return;
    drafts.set("", error);
    return () => void drafts.delete("");
  }, [error, drafts]);
  return (
    <div class="form-field">
      <JsonEditor
        label="The action as JSON"
        value={value}
        invalid={faults.length > 0}
        object
        onChange={onChange}
        onError={setError}
      />
      <ul class="form-list">
        {faults.filter((fault) => fault.loc.length > 0).map((fault) => (
          <li key={fault.loc.join("/")} class="form-fault"><code>{fault.loc.join(".")}</code> {fault.msg}</li>
        ))}
      </ul>
    </div>
  );
}
