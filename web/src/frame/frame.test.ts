import { describe, expect, it } from "vitest";
import { Heights } from "./height";
import { toldIn } from "./messages";

describe("toldIn", () => {
  it("bounds what it is told", () => {
    expect(toldIn({ type: "height", height: 1e9 })).toEqual({ type: "height", height: 900 });
    expect(toldIn({ type: "height", height: -5 })).toEqual({ type: "height", height: 40 });
    expect(toldIn({ type: "key", key: "ArrowUp" })).toEqual({ type: "key", key: "ArrowUp" });
  });

  it("hears nothing else", () => {
    const strange = [
      null,
      1,
      "ready",
      {},
      { type: "height" },
      { type: "height", height: "9" },
      { type: "height", height: NaN },
      { type: "key", key: "x".repeat(99) },
      { type: "key", key: {} },
      { type: "eval" },
    ];
    for (const message of strange) expect(toldIn(message)).toBeNull();
  });
});

describe("Heights", () => {
  it("tells each height once", () => {
    const heights = new Heights();
    expect(heights.next(300, 100)).toBe(100);
    expect(heights.next(300, 100)).toBeNull();
    expect(heights.next(300, 120.2)).toBe(121);
  });

  it("does not swing where the height depends on itself", () => {
    const heights = new Heights();
    let height = 100;
    const told = Array.from({ length: 50 }, () => heights.next(300, (height = 400 - height))).filter(
      (one) => one !== null,
    );
    expect(told.length).toBeLessThanOrEqual(2);
  });

  it("does not swing between two widths for ever", () => {
    const heights = new Heights();
    const told: number[] = [];
    for (let turn = 0; turn < 500; turn++) {
      const height = heights.next(turn % 2 ? 300 : 285, turn % 2 ? 700 : 500);
      if (height !== null) told.push(height);
    }
    expect(told.length).toBeLessThan(20);
    expect(told.at(-1)).toBe(700);
  });

  it("follows a window that is made narrower and wider again", () => {
    const heights = new Heights();
    const widths = [600, 500, 400, 300, 400, 500, 600];
    expect(widths.map((width) => heights.next(width, 180_000 / width))).toEqual([
      300, 360, 450, 600, 450, 360, 300,
    ]);
  });

  it("ends at the greatest height a frame may have", () => {
    const heights = new Heights();
    let height = 40;
    for (let turn = 0; turn < 1000; turn++) height = heights.next(300, height + 10) ?? height;
    expect(height).toBe(900);
  });
});
