import type { Kind, Place } from "./field";

const TEXT =
  /^(message|text|prompt|content|answer|reply|response|body|question|comment|notes?|instructions?)$|_(text|message|prompt|content)$/i;
const CODE = /^(code|script|source|program|query|command|sql|snippet)$|_(code|script|sql|query|command)$/i;
const LINES = /^(textarea|multi-?line|markdown)$/;
const LONG = 256;

const LANGUAGES: [RegExp, string][] = [
  [/\bpython\b/i, "python"],
  [/\bsql\b/i, "sql"],
  [/\b(bash|shell|sh)\b/i, "bash"],
  [/\b(javascript|js|ecmascript)\b/i, "javascript"],
  [/\b(typescript|ts)\b/i, "typescript"],
  [/\bjson\b/i, "json"],
  [/\bhtml\b/i, "html"],
];
const BY_NAME: [RegExp, string][] = [
  [/sql|query/i, "sql"],
  [/command/i, "bash"],
];
const PROGRAM = /\b(code|script|program|statements?)\b/i;

/** How a string is typed in: by what the schema says of it, then by its name and length. */
export function stringKind(place: Place): Kind {
  const { schema } = place;
  const name = typeof schema["x-name"] === "string" ? schema["x-name"] : place.name;
  if (schema.format === "base64url" || schema.contentEncoding?.startsWith("base64")) return { kind: "bytes" };
  const media = typeof schema.contentMediaType === "string" ? schema.contentMediaType : "";
  if (isCode(name, media, place.hint)) return { kind: "code", language: languageOf(name, media, place.hint) };
  const format = typeof schema.format === "string" ? schema.format : "";
  const long = (schema.maxLength ?? 0) > LONG || media.startsWith("text/") || LINES.test(format);
  return long || TEXT.test(name) ? { kind: "text" } : { kind: "string", format };
}

function isCode(name: string, media: string, hint: string): boolean {
  if (media) return media !== "text/plain" && media !== "text/markdown" && language(media) !== undefined;
  return CODE.test(name) || (PROGRAM.test(hint) && language(hint) !== undefined);
}

function language(text: string): string | undefined {
  return LANGUAGES.find(([pattern]) => pattern.test(text.replaceAll("x-", "")))?.[1];
}

/** Most code that environments run is Python. */
function languageOf(name: string, media: string, hint: string): string {
  const named = BY_NAME.find(([pattern]) => pattern.test(name))?.[1];
  return language(media) ?? named ?? language(hint) ?? "python";
}
