/** How much work a pattern may be, so that none freezes the page: the others are the server's to try. */

const LONGEST = 10_000;
/** Places of a text that a pattern may look at before it gives up. */
const MOST_STEPS = 1e7;
/** Each `?` may double the ways to read a text. */
const MOST_OPTIONAL = 8;
const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,)?(\d*)\})\??/;

/**
 * The longest text that a pattern can be tried on soon enough; 0 for one with a repetition or a choice inside of a
 * repetition, which may never end.
 */
export function longestFor(pattern: string): number {
  const { nested, unbounded, optional } = read(pattern);
  if (nested || optional > MOST_OPTIONAL) return 0;
  const tries = unbounded + (pattern.startsWith("^") ? 0 : 1);
  return Math.min(LONGEST, Math.floor((MOST_STEPS / 2 ** optional) ** (1 / Math.max(1, tries))));
}

interface Reading {
  nested: boolean;
  /** How many parts may be repeated another number of times. */
  unbounded: number;
  optional: number;
}

function read(pattern: string): Reading {
  const reading: Reading = { nested: false, unbounded: 0, optional: 0 };
  /** Of each open group: whether it can be read in more than one way. */
  const groups = [false];
  for (let at = 0; at < pattern.length;) {
    const open = pattern[at] === "(";
    const closed = pattern[at] === ")" && groups.length > 1 && groups.pop();
    if (open) groups.push(false);
    if (closed || pattern[at] === "|") groups[groups.length - 1] = true;
    at = open ? afterOpening(pattern, at) : afterAtom(pattern, at);
    const quantifier = open ? null : QUANTIFIER.exec(pattern.slice(at, at + 24));
    if (!quantifier) continue;
    at += quantifier[0].length;
    if (count(quantifier, reading)) groups[groups.length - 1] = true;
    if (closed && !quantifier[0].startsWith("?")) reading.nested = true;
  }
  return reading;
}

/** Counts a quantifier; whether it can be read in more than one way. */
function count([whole, least, comma, most]: RegExpExecArray, reading: Reading): boolean {
  const fixed = least !== undefined && (comma === undefined || least === most);
  if (fixed) return false;
  if (whole.startsWith("?")) reading.optional += 1;
  else reading.unbounded += 1;
  return true;
}

/** Past `(`, `(?:`, `(?<name>` and the like. */
function afterOpening(pattern: string, at: number): number {
  return at + (/^\((?:\?(?:[:=!]|<[=!]|<\w*>))?/.exec(pattern.slice(at, at + 100))?.[0].length ?? 1);
}

/** Past a character, an escape or a class. */
function afterAtom(pattern: string, at: number): number {
  if (pattern[at] === "\\")
    return at + (/^\\[pPuxk]\{[^}]*\}/.exec(pattern.slice(at, at + 100))?.[0].length ?? 2);
  if (pattern[at] !== "[") return at + 1;
  for (let end = at + 1; end < pattern.length; end++) {
    if (pattern[end] === "\\") end += 1;
    else if (pattern[end] === "]") return end + 1;
  }
  return pattern.length;
}
