import type { Field, NumberKind, Place } from "./field";
import type { Json } from "../types";
import { FORMATS } from "./formats";
import { shown } from "./words";

/** What a field may be, in a few words, to be read beside its label. */
export function limitsOf(field: Field): string {
  switch (field.kind) {
    case "number":
      return numberWords(field);
    case "string":
    case "text":
      return [choiceWords(field), formatWords(field), lengthWords(field)].filter(Boolean).join(", ");
    case "code":
      return field.language;
    case "bytes":
      return "base64";
    case "list":
      return between(field.min || undefined, Number.isFinite(field.max) ? field.max : undefined, "item");
    case "json":
      return "JSON";
    default:
      return "";
  }
}

function numberWords(field: NumberKind & Place): string {
  const kind = field.integer ? "whole number" : "number";
  const { exclusiveMinimum: above, exclusiveMaximum: below } = field.schema;
  const open = [
    above === undefined ? "" : `more than ${above}`,
    below === undefined ? "" : `less than ${below}`,
  ];
  const step = field.step === undefined ? "" : `a multiple of ${field.step}`;
  return [kind, between(field.min, field.max), ...(field.integer ? [] : open), step]
    .filter(Boolean)
    .join(", ");
}

function choiceWords({ schema }: Field): string {
  return Array.isArray(schema.enum) ? `one of ${schema.enum.length} texts` : "";
}

function formatWords(field: Field): string {
  return field.kind === "string" ? (FORMATS[field.format]?.words ?? "") : "";
}

function lengthWords({ schema }: Field): string {
  const range = between(schema.minLength || undefined, schema.maxLength, "character");
  return [range, schema.pattern ? `like ${schema.pattern}` : ""].filter(Boolean).join(", ");
}

function between(min: number | undefined, max: number | undefined, of = ""): string {
  const counted = (limit: number) => (of ? ` ${of}${limit === 1 ? "" : "s"}` : "");
  if (min !== undefined && max !== undefined)
    return (min === max ? `${min}` : `${min} to ${max}`) + counted(max);
  if (min !== undefined) return `at least ${min}${counted(min)}`;
  return max === undefined ? "" : `at most ${max}${counted(max)}`;
}

/** What stands in an empty input: the default that holds then, or an example. */
export function placeholderOf(field: Field, required: boolean, value: Json | undefined): string {
  if (value === null && field.nullable) return "null";
  if (!required && field.fallback !== undefined && field.fallback !== null && field.fallback !== "") {
    return `${typeof field.fallback === "string" ? field.fallback : shown(field.fallback)} (default)`;
  }
  const example = field.schema.examples?.[0];
  if (typeof example === "string" || typeof example === "number") return String(example);
  return field.kind === "string" ? (FORMATS[field.format]?.example ?? "") : "";
}
