import { describe, expect, it } from "vitest";
import { child, same } from "./json";

describe("same", () => {
  it("compares by value, however deep", () => {
    let left = "[]";
    for (let depth = 0; depth < 5000; depth++) left = `[${left}]`;
    expect(same(JSON.parse(left), JSON.parse(left))).toBe(true);
    expect(same({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toBe(true);
    expect(same({ a: 1 }, { b: 1 })).toBe(false);
    expect(same([], {})).toBe(false);
    expect(same(Number.NaN, Number.NaN)).toBe(true);
    expect(same(undefined, null)).toBe(false);
    expect(same(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 2}'))).toBe(false);
  });
});

describe("child", () => {
  it("is what a value has itself", () => {
    expect(child({ a: null }, "a")).toBeNull();
    expect(child([1, 2], 1)).toBe(2);
    expect(child([1, 2], 2)).toBeUndefined();
    expect(child({}, "constructor")).toBeUndefined();
    expect(child("text", "length")).toBeUndefined();
  });
});
