import type { Field, NumberKind } from "./field";
import { FORMATS } from "./formats";
import { shown } from "./words";

/** What a field may be, in a few words, to be read beside its label. */
export function limitsOf(field: Field): string {
  return [kindWords(field), field.nullable ? "or null" : ""].filter(Boolean).join(" ");
}

function kindWords(field: Field): string {
  switch (field.kind) {
    case "number":
      return numberWords(field);
    case "string":
    case "text":
      return [FORMATS[field.kind === "string" ? field.format : ""]?.words ?? "", lengthWords(field)].filter(Boolean).join(", ");
    case "code":
      return field.language;
    case "bytes":
      return "base64";
    case "list":
      return between(field.min || undefined, Number.isFinite(field.max) ? field.max : undefined, " items");
    case "json":
      return "JSON";
    default:
      return "";
  }
}

function numberWords(field: NumberKind): string {
  const kind = field.integer ? "whole number" : "number";
  const range = between(field.min, field.max, "");
  const step = field.step === undefined ? "" : `, a multiple of ${field.step}`;
  return `${kind}${range && `, ${range}`}${step}`;
}

function lengthWords({ schema }: Field): string {
  const range = between(schema.minLength || undefined, schema.maxLength, " characters");
  return [range, schema.pattern ? `like ${schema.pattern}` : ""].filter(Boolean).join(", ");
}

function between(min: number | undefined, max: number | undefined, of: string): string {
  if (min !== undefined && max !== undefined) return min === max ? `${min}${of}` : `${min} to ${max}${of}`;
  if (min !== undefined) return `at least ${min}${of}`;
  return max === undefined ? "" : `at most ${max}${of}`;
}

/** What stands in an empty input: the default that holds then, or an example. */
export function placeholderOf(field: Field, required: boolean): string {
  if (!required && field.fallback !== undefined && field.fallback !== null && field.fallback !== "") {
    return `${typeof field.fallback === "string" ? field.fallback : shown(field.fallback)} (default)`;
  }
  const example = field.schema.examples?.[0];
  if (typeof example === "string" || typeof example === "number") return String(example);
  return field.kind === "string" ? (FORMATS[field.format]?.example ?? "") : "";
}
