/** How a text wants to be shown. */
export type TextForm =
  | { form: "short" }
  | { form: "long"; mono: boolean }
  | { form: "code"; text: string; language: string }
  | { form: "markdown" };

const SHORT = 120;
const LONGEST_FORMED = 50_000;
/** What is nested deeply is mostly spaces, once indented. */
const LONGEST_INDENTED = 10 * LONGEST_FORMED;
const LONGEST_MARKDOWN = 20_000;
const LOOKED_AT = 4000;
const LINE_LOOKED_AT = 500;
const LANGUAGES: Record<string, string> = {
  py: "python",
  python: "python",
  python3: "python",
  json: "json",
  sh: "bash",
  bash: "bash",
  shell: "bash",
  sql: "sql",
  js: "javascript",
  javascript: "javascript",
  html: "markup",
  xml: "markup",
  svg: "markup",
  markup: "markup",
};
const NAMED_CODE = /(?:^|_)(?:code|source|source_code|script|program|snippet|solution|patch|diff)$/i;
const NAMED_LANGUAGE = /(?:^|_)(python|json|sql|bash|shell|javascript|html|xml)$/i;
const ONE_FENCE = /^\s*```([\w+-]*)[^\S\n]*\n([\s\S]*?)\n?```\s*$/;

/** The name that a highlighter knows a language by, "" for others. */
export function languageOf(name: string): string {
  return LANGUAGES[name.toLowerCase()] ?? "";
}

/** The form of a text in a field of that name; `mediaType` is the schema's `contentMediaType`. */
export function textForm(name: string, text: string, mediaType = ""): TextForm {
  const begin = beginning(text);
  if (text.length > LONGEST_FORMED) return { form: "long", mono: isAligned(begin) };
  const code = codeIn(name, text);
  if (code) return code;
  if (mediaType === "text/markdown" || (text.length <= LONGEST_MARKDOWN && isMarkdown(begin)))
    return { form: "markdown" };
  if (text.length <= SHORT && !text.includes("\n")) return { form: "short" };
  return { form: "long", mono: isAligned(begin) };
}

/** What a text's form is told by: the rules would take too long on some longer texts. */
function beginning(text: string): string {
  const lines = text.slice(0, LOOKED_AT).split("\n");
  return lines.map((line) => line.slice(0, LINE_LOOKED_AT)).join("\n");
}

function codeIn(name: string, text: string): TextForm | null {
  const fence = ONE_FENCE.exec(text);
  if (fence && !fence[2]?.includes("```")) {
    return { form: "code", text: fence[2] ?? "", language: languageOf(fence[1] ?? "") };
  }
  const named = NAMED_LANGUAGE.exec(name);
  if (named && text.trim() && !isWord(text))
    return { form: "code", text, language: languageOf(named[1] ?? "") };
  if (NAMED_CODE.test(name) && !isWord(text))
    return { form: "code", text, language: guessed(beginning(text)) };
  return jsonIn(text);
}

/** A bare word is a name or a state ("E404", "easy"), whatever its field is called. */
function isWord(text: string): boolean {
  return /^[\w.-]*$/.test(text);
}

function jsonIn(text: string): TextForm | null {
  if (!/^\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(text)) return null;
  try {
    const indented = JSON.stringify(JSON.parse(text), null, 2);
    return indented.length <= LONGEST_INDENTED ? { form: "code", text: indented, language: "json" } : null;
  } catch {
    return null;
  }
}

function guessed(text: string): string {
  if (/^\s*<[!a-z]/i.test(text)) return "markup";
  if (/^\s*(?:select|insert|update|delete|create|with)\b[\s\S]*\b(?:from|into|set|table|as)\b/i.test(text))
    return "sql";
  if (/^#!.*\b(?:ba|z)?sh\b/.test(text)) return "bash";
  return /^[ \t]*(?:const|let|function|import .* from)\b/m.test(text) ? "javascript" : "python";
}

const MARKS = [
  /^#{1,6} \S/m,
  /^(?:[-*+]|\d+\.) \S.*\n(?:[ \t]*(?:[-*+]|\d+\.)|[ \t]+) ?\S/m,
  /\*\*[^*\s][^*\n]*\*\*/,
  /\[[^\]\n]+\]\((?:https?:\/\/|mailto:|\.{0,2}\/|#)[^)\s]*\)/,
  /`[^`\n]+`/,
  /^> \S/m,
];
const CERTAIN = [/^```[\s\S]*^```/m, /^\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+(?:[ \t]*:?-{3,}:?[ \t]*)?\|?[ \t]*$/m];

/** Whether a text is evidently markdown: a fence or a table, or two other marks, and nothing that is drawn by spaces. */
function isMarkdown(text: string): boolean {
  if (CERTAIN.some((mark) => mark.test(text))) return true;
  if (isAligned(text, true)) return false;
  return MARKS.filter((mark) => mark.test(text)).length >= 2;
}

const DRAWN = /[\u2500-\u259f\u2654-\u265f\u25a0-\u25ff]|^[ \t]*[+|][-=+| \t]{3,}[+|][ \t]*$|\S {3,}\S/m;

/** Whether a text wants letters of one width: a drawing, a board, a log, a traceback. */
function isAligned(text: string, onlyDrawn = false): boolean {
  if (DRAWN.test(text)) return true;
  if (onlyDrawn) return false;
  const lines = text.split("\n").filter((line) => line.trim());
  if (lines.some((line) => /^Traceback \(|^ {2,}File "|^\s*at .+:\d+/.test(line))) return true;
  return lines.filter((line) => /^\s*\S( \S)+\s*$|^\s*[^\w\s]*[.#XO_@*|-]{3,}\s*$/.test(line)).length >= 2;
}

const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** What a terminal would show of an output: without its control sequences. */
export function printed(output: string): string {
  return output.includes("\x1b") ? output.replace(ESCAPES, "") : output;
}

/** The beginning of a text, at most `limit` long, never half a character. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}
