import { child, isObject } from "../json";
import type { Fault, Json, Schema } from "../types";
import { fieldOf, type Field } from "./field";
import { optionOf } from "./options";

/**
 * Faults with their places as the form has them. A server also names the option of a union that it tried
 * (`["shape", "Circle", "radius"]`), and the parts of a body, which are no places.
 */
export function placed(root: Schema, value: Json, faults: Fault[]): Fault[] {
  return faults.map((fault) => ({
    loc: place(root, value, fault.loc),
    msg: fault.msg.replace(OWN_WORDS, ""),
  }));
}

/** What pydantic puts before the words of a validator's author. */
const OWN_WORDS = /^(Value|Assertion) error, /;

function place(root: Schema, value: Json | undefined, loc: Fault["loc"]): Fault["loc"] {
  let field = fieldIn(root, fieldOf(root, root), value);
  let inner = value;
  const found: Fault["loc"] = [];
  for (const step of loc) {
    const next = part(root, field, inner, step);
    if (!next) continue;
    found.push(step);
    inner = Array.isArray(inner)
      ? inner[Number(step)]
      : isObject(inner)
        ? child(inner, String(step))
        : undefined;
    field = fieldIn(root, next, inner);
  }
  return found;
}

/** A union's option, for what is in it. */
function fieldIn(root: Schema, field: Field, value: Json | undefined): Field {
  for (let depth = 0; field.kind === "union" && depth < 8; depth++) {
    field = fieldOf(root, field.options[optionOf(root, field, value)]!.schema, field.name);
  }
  return field;
}

function part(root: Schema, field: Field, value: Json | undefined, step: string | number): Field | undefined {
  switch (field.kind) {
    case "object": {
      const property = field.properties.find((each) => each.name === step);
      return property && fieldOf(root, property.schema, property.name, property.hint);
    }
    case "dict":
      return isObject(value) && Object.hasOwn(value, String(step)) ? fieldOf(root, field.values) : undefined;
    case "list":
      return typeof step === "number" ? fieldOf(root, field.items) : undefined;
    case "tuple":
      return typeof step === "number" && field.items[step] ? fieldOf(root, field.items[step]) : undefined;
    default:
      return undefined;
  }
}
