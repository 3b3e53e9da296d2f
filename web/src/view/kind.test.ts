import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../types";
import { kindOf } from "./kind";
import { painted } from "./pixels";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function filled(height: number, width: number, cell: Json): Json[][] {
  return Array.from({ length: height }, () => Array.from({ length: width }, () => cell));
}

function kind(name: string, value: Json, siblings?: JsonObject) {
  return kindOf(name, value, siblings).kind;
}

describe("texts", () => {
  it("tells short ones from long ones", () => {
    expect(kind("message", "hello")).toBe("scalar");
    expect(kind("message", "hello\nworld, a text")).toBe("text");
    expect(kind("message", "x".repeat(500))).toBe("text");
    expect(kind("message", "")).toBe("nothing");
  });

  it("knows code by its field and by a fence", () => {
    expect(kindOf("code", "print(1)")).toEqual({ kind: "code", text: "print(1)", language: "python" });
    expect(kindOf("answer", "```sql\nselect 1\n```")).toEqual({
      kind: "code",
      text: "select 1",
      language: "sql",
    });
    expect(kindOf("sql", "select 1 from t")).toMatchObject({ language: "sql" });
    expect(kindOf("answer", '{"a": [1]}')).toMatchObject({ kind: "code", language: "json" });
  });

  it("does not take a word for code", () => {
    expect(kind("code", "E404")).toBe("scalar");
    expect(kind("language", "python")).toBe("scalar");
  });

  it("believes in markdown only when it is evident", () => {
    expect(kind("text", "# Title\n\nSome **bold** words.")).toBe("markdown");
    expect(kind("text", "a\n\n```python\nx\n```\n")).toBe("markdown");
    expect(kind("text", "| a | b |\n|---|---|\n| 1 | 2 |")).toBe("markdown");
    expect(kind("text", "# of players: 2\nscore: 3")).toBe("text");
    expect(kind("text", "2 * 3 * 4 = 24\nwell, * is a star")).toBe("text");
    expect(kindOf("note", "just words", undefined, { contentMediaType: "text/markdown" }).kind).toBe(
      "markdown",
    );
  });

  it("keeps boards and tracebacks in letters of one width", () => {
    expect(kindOf("text", "X . O\n. X .\nO . X")).toMatchObject({ kind: "text", mono: true });
    expect(kindOf("text", 'Traceback (most recent call last):\n  File "a.py", line 1')).toMatchObject({
      mono: true,
    });
    expect(kindOf("text", "It was a dark night.\nIt rained.")).toMatchObject({ mono: false });
  });
});

describe("pictures", () => {
  it("knows image files by their first bytes", () => {
    expect(kindOf("png", PNG)).toMatchObject({
      kind: "picture",
      picture: { mime: "image/png", width: 1, height: 1 },
    });
    expect(kind("anything", PNG)).toBe("picture");
    expect(kind("image", `data:image/png;base64,${PNG}`)).toBe("picture");
    expect(kind("image", PNG.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""))).toBe("picture");
  });

  it("shows all of a list", () => {
    expect(kind("images", [PNG, PNG])).toBe("pictures");
    expect(kind("images", [PNG, "no"])).toBe("tree");
  });

  it("shows no other data, whatever it calls itself", () => {
    expect(kind("image", `data:image/svg+xml;base64,${btoa("<svg onload=alert(1)></svg>")}`)).not.toBe(
      "picture",
    );
    expect(kind("image", `data:image/png;base64,${btoa("<script>alert(1)</script>")}`)).not.toBe("picture");
    expect(kind("image", "https://example.org/x.png?padding=aaaaaaaaaaaaaaa")).toBe("scalar");
    expect(kind("image", "javascript:alert(1)//aaaaaaaaaaaaaaaaaaaaaaaa")).toBe("scalar");
  });

  it("does not believe in a JPEG by four letters alone", () => {
    const jpeg = `/9j/${"A".repeat(40)}`;
    expect(kind("answer", jpeg)).toBe("scalar");
    expect(kind("frame", jpeg)).toBe("picture");
  });

  it("refuses sizes that no screen holds", () => {
    const bytes = atob(PNG).split("");
    bytes.splice(16, 8, ..."\x00\x00\xff\xff\x00\x00\xff\xff");
    expect(kind("png", btoa(bytes.join("")))).not.toBe("picture");
  });
});

describe("arrays", () => {
  it("draws H x W x 3, 4 and 1", () => {
    expect(kindOf("screen", filled(210, 160, [1, 2, 3]))).toMatchObject({
      kind: "pixels",
      pixels: { width: 160, height: 210, channels: 3, scale: 1 },
    });
    expect(kind("x", filled(10, 10, [1, 2, 3, 255]))).toBe("pixels");
    expect(kind("x", filled(30, 30, [7]))).toBe("pixels");
  });

  it("draws flat ones whose shape a sibling tells", () => {
    const flat = new Array<number>(210 * 160).fill(9);
    expect(kind("screen", flat, { screen: flat, screen_shape: [210, 160] })).toBe("pixels");
    expect(kind("screen", flat, { screen_shape: [210, 161] })).toBe("chips");
    expect(kind("screen", [1, 2, 3], { screen_shape: [128] })).toBe("chips");
  });

  it("draws large H x W as grey, and small ones as boards", () => {
    expect(kind("image", filled(28, 28, 0.5))).toBe("pixels");
    expect(kind("mnist", filled(28, 28, 200))).toBe("pixels");
    expect(kind("board", filled(8, 8, 200))).toBe("grid");
    expect(kind("board", filled(8, 8, "."))).toBe("grid");
  });

  it("draws nothing that is no picture", () => {
    expect(kind("x", filled(30, 30, 300))).toBe("grid");
    expect(kind("x", filled(30, 30, -1))).toBe("grid");
    expect(kind("x", [[[1, 2, 3]], [[1, 2]]])).toBe("tree");
    expect(kind("x", filled(30, 30, [1, 2, "3"]))).toBe("tree");
  });

  it("paints grey, colours and opacity", () => {
    expect([...painted({ width: 1, height: 1, channels: 1, scale: 255, values: [[0.5]] })]).toEqual([
      128, 128, 128, 255,
    ]);
    expect([...painted({ width: 1, height: 1, channels: 4, scale: 1, values: [1, 2, 3, 4] })]).toEqual([
      1, 2, 3, 4,
    ]);
    expect([
      ...painted({
        width: 2,
        height: 1,
        channels: 3,
        scale: 1,
        values: [
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
        ],
      }),
    ]).toEqual([1, 2, 3, 255, 4, 5, 6, 255]);
  });
});

describe("lists of objects", () => {
  it("are tables where they are alike and small", () => {
    expect(kindOf("cards", [{ a: 1, b: "x" }, { a: 2 }])).toMatchObject({
      kind: "table",
      columns: ["a", "b"],
    });
    expect(kind("cards", [{ a: 1 }, { b: 1 }, { c: 1 }])).toBe("tree");
    expect(kind("cards", [{ a: "x".repeat(300) }])).toBe("tree");
  });

  it("are conversations, tools, files or blocks", () => {
    expect(
      kind("m", [
        { role: "user", content: "hi" },
        { role: "assistant", content: null, tool_calls: [] },
      ]),
    ).toBe("messages");
    expect(kindOf("m", [{ sender_id: -1, content: "hi", category: "PROMPT" }])).toMatchObject({
      messages: [{ role: "game", content: "hi", rest: { category: "PROMPT" } }],
    });
    expect(kind("tools", [{ name: "add", description: "", input_schema: { type: "object" } }])).toBe("tools");
    expect(kind("artefacts", [{ name: "a.png", mime: "image/png", base64: PNG }])).toBe("files");
    expect(kind("content", [{ type: "text", text: "x" }])).toBe("content");
  });
});

describe("tool results", () => {
  const block = { type: "text", text: "7" };
  it("leave out a structure that says the same again", () => {
    const content = (structured: Json, extra: JsonObject = {}) =>
      kindOf("result", { content: [block], structured_content: structured, ...extra });
    expect(content({ result: 7 })).toMatchObject({
      kind: "content",
      content: { structured: undefined, failed: false },
    });
    expect(content({ result: 8 })).toMatchObject({ content: { structured: { result: 8 } } });
    expect(content(null, { is_error: true })).toMatchObject({
      content: { structured: undefined, failed: true },
    });
  });
});

describe("errors", () => {
  it("say what and why, and what else is known", () => {
    expect(
      kindOf("error", { type: "ZeroDivisionError", message: "division by zero", line: 3, other: null }),
    ).toEqual({
      kind: "error",
      error: { title: "ZeroDivisionError", message: "division by zero", rest: { line: 3 } },
    });
    expect(kind("error", "bad")).toBe("error");
    expect(kind("error", null)).toBe("nothing");
    expect(kind("error", "")).toBe("nothing");
  });
});
