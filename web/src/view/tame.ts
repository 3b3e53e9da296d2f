/** What markdown would take too long to be formatted. */

const DEEPEST = 10;
const WIDEST_INDENT = 100;
const MOST_CELLS = 20_000;
const MARKS = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)))*[ \t]*/;
const MARK = />|[-*+]|\d+[.)]/g;
const DELIMITERS = /^[\s>|:-]+$/;

/** Whether lists, quotes and tables in a text are of a size that people write. */
export function isTame(text: string): boolean {
  const lines = text.split("\n");
  return lines.every((line) => isShallow(line) && columnsOf(line) * lines.length <= MOST_CELLS);
}

function isShallow(line: string): boolean {
  const marks = MARKS.exec(line)?.[0] ?? "";
  const nested = marks.match(MARK)?.length ?? 0;
  return nested <= DEEPEST && (nested === 0 || marks.length <= WIDEST_INDENT);
}

/** How many columns a line gives to each row of the table that it may be of: few characters may make many cells. */
function columnsOf(line: string): number {
  return line.includes("|") && DELIMITERS.test(line) ? line.split("|").length - 1 : 0;
}
