import { describe, expect, it } from "vitest";
import { type Piece, pieces } from "./highlight";

function textOf(all: Piece[]): string {
  return all.map(({ content }) => (typeof content === "string" ? content : textOf(content))).join("");
}

describe("pieces", () => {
  it("are the whole text, coloured where the language is known", () => {
    const code = 'def f(x):\n    return f"{x!r} <b>" # no';
    expect(textOf(pieces(code, "python"))).toBe(code);
    expect(pieces(code, "python")[0]).toEqual({ type: "keyword", content: "def" });
    for (const language of ["", "cobol", "constructor", "extend", "__proto__"])
      expect(pieces(code, language)).toEqual([{ type: "", content: code }]);
  });

  it("are made of hostile text in reasonable time", () => {
    const longest = {
      python: 50_000,
      json: 50_000,
      sql: 50_000,
      bash: 20_000,
      markup: 10_000,
      javascript: 6_000,
    };
    for (const [language, length] of Object.entries(longest)) {
      for (const pattern of ["a", "$(", "0x", "$", "1e", "<a ", "<<A\n", "${", 'f"{', "<a b='"]) {
        const text = pattern.repeat(length / pattern.length);
        expect(textOf(pieces(text, language)).length).toBe(text.length);
      }
    }
  }, 60_000);
});
