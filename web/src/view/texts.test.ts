import { describe, expect, it } from "vitest";
import { safeLink } from "./links";
import { cut, printed, textForm } from "./texts";

describe("printed", () => {
  it("drops a terminal's control sequences", () => {
    expect(printed("\x1b[31mred\x1b[0m \x1b]0;title\x07plain")).toBe("red plain");
    expect(printed("a[0m")).toBe("a[0m");
  });
});

describe("cut", () => {
  it("never leaves half a character", () => {
    expect(cut("ab😀", 3)).toBe("ab");
    expect(cut("ab😀", 4)).toBe("ab😀");
    expect(cut("ab", 5)).toBe("ab");
  });
});

describe("textForm", () => {
  it("reads a hostile text at once", () => {
    for (const text of [
      "[".repeat(50_000),
      "`".repeat(50_000),
      "| ".repeat(25_000),
      "X ".repeat(25_000),
      "- a\n".repeat(12_000),
      " ".repeat(50_000),
      "---|".repeat(12_500),
      "**".repeat(25_000),
      "\n".repeat(50_000),
      "select ".repeat(7000),
      `${"#".repeat(49_000)}a`,
      `${"|---".repeat(12_000)}x`,
      `${"-".repeat(49_000)}x`,
      `${"-".repeat(19_000)}x`,
      "![".repeat(24_000),
      "[".repeat(19_000),
      `${"+" + "-+".repeat(9_000)}x`,
      `${"X ".repeat(9_000)}\n`.repeat(2),
    ]) {
      textForm("code", text);
      textForm("text", `${text}!`);
    }
  });
});

describe("textForm of what is long", () => {
  it("is told by its beginning", () => {
    expect(textForm("text", `# A\n\n- b\n- c\n\n**d**\n${"e\n".repeat(5000)}`)).toEqual({ form: "markdown" });
    expect(textForm("text", `┌──┐\n${"x".repeat(30_000)}`)).toEqual({ form: "long", mono: true });
  });

  it("leaves what is nested very deeply as it is", () => {
    const nested = "[".repeat(2000) + "]".repeat(2000);
    expect(textForm("text", nested).form).toBe("long");
    expect(textForm("text", '{"a":[1]}').form).toBe("code");
  });
});

describe("safeLink", () => {
  it("passes http, https and mailto alone", () => {
    expect(safeLink("https://example.org/a b")).toBe("https://example.org/a%20b");
    expect(safeLink("mailto:a@example.org")).toBe("mailto:a@example.org");
    for (const bad of [
      "javascript:alert(1)",
      " java\nscript:alert(1)",
      "data:text/html,x",
      "//example.org",
      "/x",
      "x.md",
      "#x",
      "file:///etc",
      "http://",
    ])
      expect(safeLink(bad)).toBeNull();
  });
});
