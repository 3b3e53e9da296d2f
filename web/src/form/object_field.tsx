import { child, isObject } from "../json";
import type { FieldOf, Property } from "../schema/field";
import { inside } from "../schema/path";
import type { JsonObject } from "../types";
import { Rows } from "./dict_field";
import { FieldView } from "./fields";
import { Group, type FieldProps } from "./frame";
import { JsonPart } from "./json_part";
import { MayBeLeftOut } from "./leaving_out";
import { Opening } from "./opening";
import { useFault } from "./scope";

/** A nested model. */
export function ObjectField(props: FieldProps<FieldOf<"object">>) {
  const { field, pointer, value } = props;
  if (pointer === "" && isObject(value)) return <Properties field={field} pointer="" value={value} />;
  return (
    <MayBeLeftOut {...props}>
      {(remove) =>
        isObject(value) ? (
          <Group {...props} actions={remove}>
            <Properties field={field} pointer={pointer} value={value} />
          </Group>
        ) : (
          <JsonPart {...props} />
        )
      }
    </MayBeLeftOut>
  );
}

interface Props {
  field: FieldOf<"object">;
  pointer: string;
  value: JsonObject;
}

/** The fields of an object; what every action has besides its own is further down. */
function Properties({ field, pointer, value }: Props) {
  const besides = field.properties.filter((part) => pointer === "" && isBesides(part));
  const main = field.properties.filter((part) => !besides.includes(part));
  const names = new Set(field.properties.map((part) => part.name));
  const extra = Object.keys(value).filter((key) => !names.has(key));
  return (
    <>
      {main.map((part) => (
        <Part key={part.name} part={part} pointer={pointer} value={value} />
      ))}
      {(field.extra !== null || extra.length > 0) && (
        <Rows
          pointer={pointer}
          value={value}
          keys={extra}
          values={field.extra ?? {}}
          add={field.extra ? "Add another field" : undefined}
        />
      )}
      {besides.length > 0 && <More parts={besides} pointer={pointer} value={value} />}
    </>
  );
}

function isBesides({ name, required }: Property): boolean {
  return name === "metadata" && !required;
}

function More({ parts, pointer, value }: { parts: Property[]; pointer: string; value: JsonObject }) {
  const filled = parts.some((part) => child(value, part.name) !== undefined);
  const faulty = useFault(inside(pointer, parts[0]!.name));
  return (
    <Opening class="form-more" summary="More" wanted={filled || faulty}>
      {parts.map((part) => (
        <Part key={part.name} part={part} pointer={pointer} value={value} />
      ))}
    </Opening>
  );
}

function Part({ part, pointer, value }: { part: Property; pointer: string; value: JsonObject }) {
  const { name, schema, required, hint } = part;
  return (
    <FieldView
      schema={schema}
      name={name}
      hint={hint}
      pointer={inside(pointer, name)}
      value={child(value, name)}
      required={required}
      label=""
      bare={false}
    />
  );
}
