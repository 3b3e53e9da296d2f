import { describe, expect, it } from "vitest";
import { brief, briefCall, deed } from "./format";
import { pointsOf, summaryOf } from "./points";
import { failed, newLog, outcome, played } from "./samples";
import { EVERYTHING, type Filter, Shown } from "./shown";
import { drawn, isAtEnd, moved, topFor } from "./span";

describe("what a filter shows", () => {
  const indices = (filter: Partial<Filter>): number[] => {
    const shown = new Shown();
    shown.refresh(played(), { ...EVERYTHING, ...filter });
    return shown.entries.map((entry) => entry.index);
  };

  it("is what it lets through", () => {
    expect(indices({})).toEqual([0, 1, 2, 3]);
    expect(indices({ only: "errors" })).toEqual([2]);
    expect(indices({ only: "rewards" })).toEqual([1, 3]);
    expect(indices({ text: 'message="THERE"' })).toEqual([3]);
    expect(indices({ text: "no such" })).toEqual([2]);
    expect(indices({ episode: 2 })).toEqual([]);
  });

  it("follows the log: what is new, what was forgotten, and that all was", () => {
    const log = newLog(4);
    const shown = new Shown();
    log.record(outcome("reset", {}));
    expect(shown.refresh(log, EVERYTHING)).toBe(0);
    const before = shown.entries;
    shown.refresh(log, EVERYTHING);
    expect(shown.entries).toBe(before);
    for (let count = 0; count < 5; count += 1) log.record(outcome("step", { count }));
    expect(shown.refresh(log, EVERYTHING)).toBe(1);
    expect(shown.entries.map((entry) => entry.index)).toEqual([2, 3, 4, 5]);
    for (let count = 0; count < 9; count += 1) log.record(outcome("step", { count }));
    expect(shown.refresh(log, EVERYTHING)).toBe(4);
    expect(shown.entries.map((entry) => entry.index)).toEqual([11, 12, 13, 14]);
    log.clear();
    log.record(outcome("step", {}));
    shown.refresh(log, EVERYTHING);
    expect(shown.entries.map((entry) => entry.index)).toEqual([15]);
  });
});

it("says things in one line", () => {
  expect(briefCall({ message: "a\nb", n: 2, list: [1, { a: null }] })).toBe(
    'message="a\\nb", n=2, list=[1, {a: null}]',
  );
  expect(brief("x".repeat(1e6), 10)).toBe(`"${"x".repeat(10)}…`);
  expect(briefCall({ code: "y".repeat(1e6), more: 1 }, 20).length).toBeLessThan(40);
  expect(
    brief(
      Array.from({ length: 1e6 }, () => 1),
      30,
    ).length,
  ).toBeLessThan(60);
  const nested = JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) as [];
  expect(brief(nested, 4000).length).toBeLessThan(2000);
  const [reset, step] = [...played()];
  expect(reset && deed(reset)).toBe("reset(seed=1)");
  expect(step && deed(step)).toBe('message="hi"');
});

it("draws the rows that are seen, and some more", () => {
  expect(drawn({ top: 1000, height: 100 }, 10, 10_000)).toEqual({ from: 96, to: 114 });
  expect(drawn({ top: 0, height: 100 }, 10, 3)).toEqual({ from: 0, to: 3 });
  expect(drawn({ top: 5000, height: 100 }, 10, 3)).toEqual({ from: 0, to: 3 });
  expect(topFor(5, { top: 100, height: 50 }, 10)).toBe(50);
  expect(topFor(12, { top: 100, height: 50 }, 10)).toBe(100);
  expect(topFor(20, { top: 100, height: 50 }, 10)).toBe(160);
  expect(isAtEnd({ top: 900, height: 95 }, 10, 100)).toBe(true);
  expect(isAtEnd({ top: 800, height: 95 }, 10, 100)).toBe(false);
  expect(
    ["ArrowUp", "ArrowDown", "PageDown", "Home", "End", "a"].map((key) => moved(key, 5, 10, 12)),
  ).toEqual([4, 6, 11, 0, 11, undefined]);
});

describe("the points of the chart", () => {
  it("break at errors and between episodes", () => {
    const log = played();
    log.record(outcome("reset", {}));
    expect(pointsOf([...log])).toEqual({ x: [0, 1, 2, 3, 3.5, 4], y: [0, 1, null, 2, null, 0] });
    expect(summaryOf([...log])).toEqual({ episodes: 2, steps: 2, errors: 1, total: 0 });
  });

  it("are at most two thousand, with every extreme among them", () => {
    const log = newLog();
    for (let count = 0; count < 10_000; count += 1) {
      const reward = count === 5003 ? 1000 : count === 5004 ? -1000 : 0.1;
      log.record(outcome("step", {}, { result: { observation: {}, reward, done: false } }));
    }
    const { x, y } = pointsOf([...log]);
    expect(x.length).toBeLessThanOrEqual(2000);
    expect(x).toContain(5003);
    expect([...x].sort((one, other) => one - other)).toEqual(x);
    expect(y.at(-1)).toBeCloseTo(999.8);
  });

  it("keep a gap of a long history", () => {
    const log = newLog();
    for (let count = 0; count < 5000; count += 1)
      log.record(count === 2500 ? failed({}) : outcome("step", {}));
    expect(pointsOf([...log]).y).toContain(null);
  });
});
