import { useLayoutEffect, useRef } from "preact/hooks";
import { fieldOf, type FieldOf } from "../schema/field";
import { initialIn } from "../schema/initial";
import { MOST_ITEMS } from "../schema/kinds";
import { inside } from "../schema/path";
import type { Json } from "../types";
import { FieldView } from "./fields";
import { Group, type FieldProps } from "./frame";
import { JsonPart } from "./json_part";
import { MayBeLeftOut } from "./leaving_out";
import { severalNumbers } from "./numbers";
import { idOf, memo, useScope } from "./scope";

/** Items that can be added, removed and moved. */
export function ListField(props: FieldProps<FieldOf<"list">>) {
  return <MayBeLeftOut {...props}>{(remove) => <Items {...props} remove={remove} />}</MayBeLeftOut>;
}

function Items(props: FieldProps<FieldOf<"list">> & { remove: preact.ComponentChildren }) {
  const { field, pointer, value, label, remove } = props;
  const { items, keyOf, change, paste, add, addId } = useItems(props);
  if (!Array.isArray(value) || items.length > MOST_ITEMS) return <JsonPart {...props} />;
  return (
    <Group {...props} label={`${label} (${items.length})`} actions={remove}>
      <ol class="form-items" onPaste={paste}>
        {items.map((item, index) => (
          <Item
            key={keyOf(index)}
            field={field}
            pointer={pointer}
            index={index}
            last={index === items.length - 1}
            value={item}
            fixed={items.length <= field.min}
            change={change}
          />
        ))}
      </ol>
      <button
        type="button"
        id={addId}
        class="button button-small"
        disabled={items.length >= field.max}
        onClick={add}
      >
        Add to {label}
      </button>
    </Group>
  );
}

/** The items of a list, and what changes them; the focus goes where a person goes on. */
function useItems({ field, pointer, value }: FieldProps<FieldOf<"list">>) {
  const { root, edit, idPrefix } = useScope();
  const items = Array.isArray(value) ? value : [];
  const keys = useKeys(items.length);
  const focus = useFocus();
  const addId = `${idOf(idPrefix, pointer)}-add`;
  const change = useRef<ItemChange>(() => {});
  change.current = (index, to) => {
    keys.move(index, to);
    edit(pointer, moved(items, index, to));
    const near = to ?? Math.min(index, items.length - 2);
    focus(near < 0 ? addId : `${idOf(idPrefix, inside(pointer, near))}-remove`);
  };
  return {
    items,
    addId,
    keyOf: keys.of,
    // The same function at each rendering, so that items need none of their own.
    change: useRef<ItemChange>((index, to) => change.current(index, to)).current,
    add: () => {
      edit(pointer, [...items, initialIn(root, field.items, field.name, 1) ?? null]);
      focus(idOf(idPrefix, inside(pointer, items.length)));
    },
    paste: (event: ClipboardEvent) => {
      const item = fieldOf(root, field.items, field.name);
      const numbers =
        item.kind === "number" ? severalNumbers(event.clipboardData?.getData("text") ?? "", item) : null;
      const row = event.target instanceof Element ? event.target.closest("li") : null;
      if (!numbers || !row) return;
      const at = indexOf(row);
      event.preventDefault();
      edit(pointer, [...items.slice(0, at), ...numbers, ...items.slice(at + 1)].slice(0, field.max));
    },
  };
}

function indexOf(row: Element): number {
  return Array.from(row.parentElement?.children ?? []).indexOf(row);
}

/** Moves the item at a place to another one, or takes it away. */
type ItemChange = (index: number, to?: number) => void;

function moved(items: Json[], index: number, to: number | undefined): Json[] {
  const rest = items.filter((_, at) => at !== index);
  return to === undefined ? rest : [...rest.slice(0, to), items[index]!, ...rest.slice(to)];
}

interface ItemProps {
  field: FieldOf<"list">;
  pointer: string;
  index: number;
  last: boolean;
  value: Json;
  fixed: boolean;
  change: ItemChange;
}

const Item = memo(function Item({ field, pointer, index, last, value, fixed, change }: ItemProps) {
  const place = inside(pointer, index);
  const id = idOf(useScope().idPrefix, place);
  const name = `${field.title} ${index + 1}`;
  return (
    <li class="form-item">
      <FieldView
        schema={field.items}
        name={field.name}
        hint=""
        pointer={place}
        value={value}
        required
        label={name}
        bare
      />
      <div class="form-item-tools">
        <IconButton
          sign="↑"
          label={`Move ${name} up`}
          disabled={index === 0}
          onClick={() => change(index, index - 1)}
        />
        <IconButton
          sign="↓"
          label={`Move ${name} down`}
          disabled={last}
          onClick={() => change(index, index + 1)}
        />
        <IconButton
          sign="×"
          label={`Remove ${name}`}
          disabled={fixed}
          onClick={() => change(index)}
          id={`${id}-remove`}
        />
      </div>
    </li>
  );
});

interface IconProps {
  sign: string;
  label: string;
  disabled: boolean;
  onClick: () => void;
  id?: string;
}

function IconButton({ sign, label, ...attributes }: IconProps) {
  return (
    <button type="button" class="button button-small form-icon" aria-label={label} {...attributes}>
      {sign}
    </button>
  );
}

/** Keys that go with the items when they are moved; what is typed in an item moves along. */
function useKeys(length: number) {
  const keys = useRef<number[]>([]);
  const next = useRef(0);
  while (keys.current.length < length) keys.current.push(next.current++);
  keys.current.length = length;
  return {
    of: (index: number) => keys.current[index],
    move: (index: number, to: number | undefined) => {
      const [key] = keys.current.splice(index, 1);
      if (to !== undefined && key !== undefined) keys.current.splice(to, 0, key);
    },
  };
}

/** Focuses an element by its id, once it is there. */
function useFocus(): (id: string) => void {
  const wanted = useRef<string | null>(null);
  useLayoutEffect(() => {
    const element = wanted.current === null ? null : document.getElementById(wanted.current);
    if (!element) return;
    wanted.current = null;
    element.focus();
  });
  return (id) => {
    wanted.current = id;
  };
}

/** A list of a fixed length, whose places are of different kinds. */
export function TupleField(props: FieldProps<FieldOf<"tuple">>) {
  return <MayBeLeftOut {...props}>{(remove) => <Places {...props} remove={remove} />}</MayBeLeftOut>;
}

function Places(props: FieldProps<FieldOf<"tuple">> & { remove: preact.ComponentChildren }) {
  const { field, pointer, value, remove } = props;
  if (!Array.isArray(value) || value.length > field.items.length) return <JsonPart {...props} />;
  return (
    <Group {...props} actions={remove}>
      {field.items.map((item, index) => (
        <FieldView
          key={index}
          schema={item}
          name=""
          hint=""
          pointer={inside(pointer, index)}
          value={value[index]}
          required
          label={typeof item.title === "string" ? item.title : String(index + 1)}
          bare={false}
        />
      ))}
    </Group>
  );
}
