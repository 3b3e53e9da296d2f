import { describe, expect, it } from "vitest";
import { Log, type Outcome } from "./log";

const instantly = (show: () => void): void => show();

function step(reward: number | null, more: Partial<Outcome> = {}): Outcome {
  return {
    kind: "step",
    at: "2026-01-01T00:00:00Z",
    action: { move: 1 },
    result: { observation: {}, reward, done: false },
    latencyMs: 1,
    ...more,
  };
}
const reset = (): Outcome => step(null, { kind: "reset", action: {} });
const failed = (): Outcome => {
  const { result: _none, ...rest } = step(null);
  return { ...rest, error: { code: "X", message: "x", retryable: false, details: {}, faults: [] } };
};

describe("Log", () => {
  it("numbers what it records", () => {
    const log = new Log({ limit: 10 }, instantly);
    for (const outcome of [reset(), step(1), step(Number.NaN), failed(), step(0.5), reset(), step(2)])
      log.record(outcome);
    expect([...log].map(({ index, episode, step, total }) => [index, episode, step, total])).toEqual([
      [0, 1, 0, 0],
      [1, 1, 1, 1],
      [2, 1, 2, 1],
      [3, 1, 2, 1],
      [4, 1, 3, 1.5],
      [5, 2, 0, 0],
      [6, 2, 1, 2],
    ]);
    expect(log.episode(2).map((entry) => entry.index)).toEqual([5, 6]);
  });

  it("keeps to the episode when a reset fails", () => {
    const log = new Log({ limit: 10 }, instantly);
    for (const outcome of [reset(), step(1), { ...failed(), kind: "reset" as const }, step(1)])
      log.record(outcome);
    expect(log.last).toMatchObject({ episode: 1, step: 2, total: 2 });
  });

  it("forgets the oldest beyond its limit, and says how many", () => {
    const log = new Log({ limit: 3 }, instantly);
    for (let count = 0; count < 8; count += 1) log.record(step(1));
    expect(log.length).toBe(3);
    expect(log.dropped).toBe(5);
    expect([...log].map((entry) => entry.index)).toEqual([5, 6, 7]);
    expect(log.find(6)).toBe(log.at(1));
    expect(log.find(2)).toBeUndefined();
    expect(() => log.at(3)).toThrow(/no entry 3/);
  });

  it("forgets the oldest when they weigh too much, but never the newest", () => {
    const log = new Log({ weight: 10_000 }, instantly);
    const heavy = (size: number) => step(1, { action: { text: "x".repeat(size) } });
    for (let count = 0; count < 20; count += 1) log.record(heavy(1500));
    expect(log.length).toBe(5);
    expect(log.dropped).toBe(15);
    log.record(heavy(1_000_000));
    expect([...log].map((entry) => entry.index)).toEqual([20]);
    for (let count = 0; count < 3; count += 1) log.record(heavy(10));
    expect([...log].map((entry) => entry.index)).toEqual([21, 22, 23]);
  });

  it("announces once a frame, however much comes", () => {
    const frames: (() => void)[] = [];
    const log = new Log({ limit: 10 }, (show) => void frames.push(show));
    log.record(reset());
    log.record(step(1));
    expect(frames).toHaveLength(1);
    expect(log.version.value).toBe(0);
    frames.pop()?.();
    expect(log.version.value).toBe(1);
    log.clear();
    expect(frames).toHaveLength(1);
  });

  it("goes on counting after it was cleared", () => {
    const log = new Log({ limit: 10 }, instantly);
    log.record(reset());
    log.record(step(1));
    log.clear();
    expect(log.length).toBe(0);
    expect(log.last).toBeUndefined();
    expect(log.record(step(1))).toMatchObject({ index: 2, episode: 1, step: 2, total: 2 });
  });

  it("takes ten thousand entries as fast as ten", () => {
    const log = new Log({ limit: 10_000 }, instantly);
    for (let count = 0; count < 30_000; count += 1) log.record(step(1));
    expect(log.length).toBe(10_000);
    expect(log.at(0).index).toBe(20_000);
  });
});
