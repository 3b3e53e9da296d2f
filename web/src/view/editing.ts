/** What a key does to a text: from `from` to `to` it becomes `text`, and then `start` to `end` is selected. */
export interface Edit {
  from: number;
  to: number;
  text: string;
  start: number;
  end: number;
}

const INDENT = 4;

/** Tab: spaces up to the next stop; with lines selected, each of them is moved to the right. */
export function indented(text: string, start: number, end: number): Edit {
  const from = lineStart(text, start);
  if (!text.slice(start, end).includes("\n")) {
    const spaces = " ".repeat(INDENT - ((start - from) % INDENT));
    return { from: start, to: end, text: spaces, start: start + spaces.length, end: start + spaces.length };
  }
  const lines = text.slice(from, end);
  const moved = lines.replace(/^(?=[^\n])/gm, " ".repeat(INDENT));
  return { from, to: end, text: moved, start: from, end: from + moved.length };
}

/** Shift-Tab: each line of the selection is moved to the left. */
export function dedented(text: string, start: number, end: number): Edit {
  const from = lineStart(text, start);
  const to = lineEnd(text, end);
  const moved = text.slice(from, to).replace(new RegExp(`^ {1,${INDENT}}|^\\t`, "gm"), "");
  const first = text.slice(from, to).length === 0 ? 0 : leading(text, from) - leading(moved, 0);
  const less = to - from - moved.length;
  return { from, to, text: moved, start: Math.max(from, start - first), end: Math.max(from, end - less) };
}

/** Enter: the new line begins where this one does; after a `:` of Python one stop further. */
export function broken(text: string, start: number, end: number, language: string): Edit {
  const from = lineStart(text, start);
  const line = text.slice(from, start);
  const deeper = language === "python" && /:\s*(?:#.*)?$/.test(line) ? INDENT : 0;
  const spaces = (/^[ \t]*/.exec(line)?.[0] ?? "") + " ".repeat(deeper);
  const place = start + 1 + spaces.length;
  return { from: start, to: end, text: `\n${spaces}`, start: place, end: place };
}

function lineStart(text: string, place: number): number {
  return text.lastIndexOf("\n", place - 1) + 1;
}

function lineEnd(text: string, place: number): number {
  const end = text.indexOf("\n", place);
  return end < 0 ? text.length : end;
}

function leading(text: string, from: number): number {
  return /^[ \t]*/.exec(text.slice(from))?.[0].length ?? 0;
}
