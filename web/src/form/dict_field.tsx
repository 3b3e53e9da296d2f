import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isObject } from "../json";
import type { FieldOf } from "../schema/field";
import { initialIn } from "../schema/initial";
import { MOST_ITEMS } from "../schema/kinds";
import { inside } from "../schema/path";
import type { JsonObject, Schema } from "../types";
import { FieldView } from "./fields";
import { Group, type FieldProps } from "./frame";
import { JsonPart } from "./json_part";
import { MayBeLeftOut } from "./leaving_out";
import { idOf, useDraft, useScope } from "./scope";

/** Keys of a person's own choice, each with a value. */
export function DictField(props: FieldProps<FieldOf<"dict">>) {
  const { field, value, pointer } = props;
  return (
    <MayBeLeftOut {...props}>
      {(remove) =>
        isObject(value) && Object.keys(value).length <= MOST_ITEMS ? (
          <Group {...props} actions={remove}>
            <Rows
              pointer={pointer}
              value={value}
              keys={Object.keys(value)}
              values={field.values}
              add={`Add to ${props.label}`}
            />
          </Group>
        ) : (
          <JsonPart {...props} />
        )
      }
    </MayBeLeftOut>
  );
}

interface RowsProps {
  /** The object that the rows are of. */
  pointer: string;
  value: JsonObject;
  /** Those of its keys that have rows. */
  keys: string[];
  values: Schema;
  /** What the button that adds a row says; without it, there can be no more. */
  add?: string | undefined;
}

/** A row for each key. */
export function Rows({ pointer, value, keys, values, add }: RowsProps) {
  const { root, edit } = useScope();
  const [added, setAdded] = useState<string | null>(null);
  const addRow = () => {
    const key = freshKey(value);
    setAdded(key);
    edit(pointer, { ...value, [key]: initialIn(root, values, "", 1) ?? null });
  };
  return (
    <>
      {keys.map((key, index) => (
        <Row key={index} pointer={pointer} object={value} name={key} values={values} fresh={key === added} />
      ))}
      {add !== undefined && (
        <button type="button" class="button button-small" onClick={addRow}>
          {add}
        </button>
      )}
    </>
  );
}

function freshKey(value: JsonObject): string {
  for (let number = 1; ; number++) {
    const key = number === 1 ? "key" : `key${number}`;
    if (!Object.hasOwn(value, key)) return key;
  }
}

interface RowProps {
  pointer: string;
  object: JsonObject;
  name: string;
  values: Schema;
  fresh: boolean;
}

function Row({ pointer, object, name, values, fresh }: RowProps) {
  const { edit } = useScope();
  const place = inside(pointer, name);
  return (
    <div class="form-row">
      <KeyInput pointer={pointer} object={object} name={name} fresh={fresh} />
      <FieldView
        schema={values}
        name=""
        hint=""
        pointer={place}
        value={object[name]}
        required
        label={`value of ${name}`}
        bare
      />
      <button
        type="button"
        class="button button-small form-icon"
        aria-label={`Remove ${name}`}
        onClick={() => edit(place, undefined)}
      >
        ×
      </button>
    </div>
  );
}

/** A key that is being typed: it is the object's only once it is left, as the order of the rows may depend on it. */
function useKey({ pointer, object, name }: Omit<RowProps, "values" | "fresh">) {
  const { edit } = useScope();
  const [typed, setTyped] = useState<string | null>(null);
  const twice = typed !== null && typed !== name && Object.hasOwn(object, typed);
  useDraft(inside(pointer, name), twice ? `there already is a ${JSON.stringify(typed)}` : null);
  const rename = () => {
    if (typed === null || twice) return;
    setTyped(null);
    if (typed !== name) edit(pointer, renamed(object, name, typed));
  };
  return { key: typed ?? name, type: setTyped, twice, rename };
}

function KeyInput({ fresh, ...row }: Omit<RowProps, "values">) {
  const { pointer, name } = row;
  const { key, type, twice, rename } = useKey(row);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (!fresh) return;
    input.current?.focus();
    input.current?.select();
  }, [fresh]);
  return (
    <div class="form-field">
      <input
        ref={input}
        id={`${idOf(useScope().idPrefix, inside(pointer, name))}-key`}
        class="input"
        aria-label={`Key ${name}`}
        aria-invalid={twice || undefined}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={key}
        onInput={(event) => type(event.currentTarget.value)}
        onBlur={rename}
        onKeyDown={(event) => {
          if (event.key === "Enter") rename();
        }}
      />
      {twice && <p class="form-fault">There already is one.</p>}
    </div>
  );
}

function renamed(object: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));
}
