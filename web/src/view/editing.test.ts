import { describe, expect, it } from "vitest";
import { broken, dedented, type Edit, indented } from "./editing";

/** The text with `|` for each end of the selection, after an edit. */
function edited(marked: string, edit: (text: string, start: number, end: number) => Edit): string {
  const start = marked.indexOf("|");
  const end = Math.max(start, marked.lastIndexOf("|") - 1);
  const text = marked.replaceAll("|", "");
  const { from, to, text: put, start: first, end: last } = edit(text, start, end);
  const after = text.slice(0, from) + put + text.slice(to);
  const tail = last > first ? `|${after.slice(last)}` : after.slice(last);
  return `${after.slice(0, first)}|${after.slice(first, last)}${tail}`;
}

describe("indented", () => {
  it("goes to the next stop", () => {
    expect(edited("|x", indented)).toBe("    |x");
    expect(edited("ab|x", indented)).toBe("ab  |x");
    expect(edited("a\n|x", indented)).toBe("a\n    |x");
  });
  it("moves the selected lines, but not the empty ones", () => {
    expect(edited("a|b\n\nc|d", indented)).toBe("|    ab\n\n    c|d");
  });
});

describe("dedented", () => {
  it("moves the lines of the selection back", () => {
    expect(edited("    a|b", dedented)).toBe("a|b");
    expect(edited("  a|b", dedented)).toBe("a|b");
    expect(edited("x\n    |a\n  b|\ny", dedented)).toBe("x\n|a\nb|\ny");
    expect(edited("a|b", dedented)).toBe("a|b");
    expect(edited("  |  a", dedented)).toBe("|a");
  });
});

describe("broken", () => {
  const python = (text: string, start: number, end: number) => broken(text, start, end, "python");
  it("keeps the indentation, and goes deeper after a colon of Python", () => {
    expect(edited("  a|b", python)).toBe("  a\n  |b");
    expect(edited("if x:|", python)).toBe("if x:\n    |");
    expect(edited("if x:  # why|", python)).toBe("if x:  # why\n    |");
    expect(edited("a:|", (text, start, end) => broken(text, start, end, "json"))).toBe("a:\n|");
  });
});
