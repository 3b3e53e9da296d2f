import { beforeAll, describe, expect, it, vi } from "vitest";
import { asLines, openFile, pageOf } from "./files";
import { DATA_TAG } from "./reading";
import { failed, newLog, outcome, played, typed } from "./samples";

beforeAll(() => {
  vi.stubGlobal("requestAnimationFrame", (show: () => void) => queueMicrotask(show));
});

const file = (...parts: BlobPart[]): File => new File(parts, "a.jsonl");
const header = JSON.stringify({ format: "openenv-history", version: 1, environment: typed });
const parts = { script: "'</script><!--'", style: "a{content:'</style>'}", icon: "<svg/>" };

describe("a file of lines", () => {
  it("gives back what was written", async () => {
    const log = played();
    const view = { html: "<b>", actions: [{ label: "Up", action: { move: 1 }, key: "ArrowUp" }] };
    const result = {
      observation: { text: "</script><!-- ü \u2028" },
      reward: Number.NaN,
      done: true,
      truncated: true,
      view,
      metadata: { a: 1 },
    };
    log.record(outcome("step", {}, { result }));
    const opened = await openFile(file(asLines(log, typed)));
    expect([...opened.log]).toEqual([...log]);
    expect(opened.environment.metadata).toEqual(typed.metadata);
    expect(opened.environment.config).toMatchObject({
      python: typed.config.python,
      watch: false,
      custom: null,
    });
  });

  it("has a header and a line for each entry, named as a trajectory's", async () => {
    const lines = (await asLines(played(), typed).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ format: "openenv-history", version: 1, dropped: 0, environment: typed });
    expect(lines[2]).toEqual({
      kind: "step",
      index: 1,
      episode: 1,
      step: 1,
      at: "2026-01-01T00:00:00.000Z",
      action: { message: "hi" },
      observation: { said: { message: "hi" } },
      reward: 1,
      done: false,
      total_reward: 1,
      latency_ms: 1.25,
    });
    expect(lines[3].error.code).toBe("VALIDATION_ERROR");
  });

  it.each([
    ["", /^a.jsonl can't be opened: this is not a history exported by this page$/],
    ["{", /opened: this is not a history/],
    ["[]", /opened: this is not a history/],
    ['{"format":"x"}', /opened: this is not a history/],
    ['{"format":"openenv-history","version":2}', /opened: its format has version 2; this page reads 1/],
    [`${header}\n{"kind":`, /opened: line 2 is cut off, or was changed/],
    [`${header}\n\n{"kind":"jump"}`, /line 3: its kind is "jump"/],
    [`${header}\n[]`, /line 2: the line is \[\], not an object/],
    [`${header}\n{"kind":"step","index":-1}`, /line 2: index is -1, not a count/],
    ["<html>\n</html>\n", /opened: this is not a history/],
  ])("says what is wrong with %j", async (content, reason) => {
    await expect(openFile(file(content))).rejects.toThrow(reason);
  });

  it("says that bytes are no text, and that entries must ascend", async () => {
    await expect(openFile(file(new Uint8Array([0xff, 0xfe])))).rejects.toThrow(
      /opened: it is not a text file/,
    );
    const [line = ""] = (await asLines(played(), typed).text()).split("\n").slice(1);
    await expect(openFile(file([header, line, line].join("\n")))).rejects.toThrow(
      /line 3: entry 0 comes after/,
    );
  });

  it("refuses a file that is too large before it reads it", async () => {
    const large = file("x");
    Object.defineProperty(large, "size", { value: 65 * 1024 * 1024 });
    await expect(openFile(large)).rejects.toThrow(/65.0 MB; a history of up to 64 MB/);
  });

  it("reads a line of many chunks in a time that grows with its length alone", async () => {
    const long = "x".repeat(8 * 1024 * 1024);
    const log = newLog();
    log.record(outcome("step", { long }));
    const opened = await openFile(file(asLines(log, typed)));
    expect(opened.log.at(0).action.long).toBe(long);
  });
});

describe("a page", () => {
  it("can be opened as a file of lines can", async () => {
    const log = played();
    log.record(failed({}, "</script><script>alert(1)</script><!--"));
    const opened = await openFile(new File([pageOf(log, typed, parts)], "a.html"));
    expect([...opened.log]).toEqual([...log]);
  });

  it("holds its data as one JSON, and nothing of it ends an element", async () => {
    const log = newLog();
    log.record(outcome("step", { text: "</script><!--<script>" }));
    const named = { ...typed, metadata: { ...typed.metadata, name: "</title><script>" } };
    const text = await pageOf(log, named, parts).text();
    const [, rest = ""] = text.split(`${DATA_TAG}\n`);
    const data = JSON.parse(rest.slice(0, rest.indexOf("</script>"))) as unknown[];
    expect(data).toHaveLength(2);
    expect(text.match(/<\/script>/g)).toHaveLength(2);
    expect(text.match(/<script/g)).toHaveLength(2);
    expect(text).not.toContain("<!--");
    expect(text).toContain("default-src 'none'");
  });
});
