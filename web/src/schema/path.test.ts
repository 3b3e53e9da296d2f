import { expect, it } from "vitest";
import { at, inside, pointerOf, put, stepsOf } from "./path";

it("pointers are read as they were written", () => {
  const loc = ["a/b", "~1", "", 3];
  expect(stepsOf(pointerOf(loc))).toEqual(loc.map(String));
  expect(inside("/a", "b/c")).toBe("/a/b~1c");
  expect(stepsOf("")).toEqual([]);
});

it("finds what an object has itself", () => {
  const value = { a: [{ b: null }], toString: 1 };
  expect(at(value, ["a", 0, "b"])).toBeNull();
  expect(at(value, ["a", 1, "b"])).toBeUndefined();
  expect(at({}, ["constructor"])).toBeUndefined();
});

it("puts, takes away, and leaves the rest as it is", () => {
  const value = { a: { b: [1, 2] }, c: { d: 1 } };
  const changed = put(value, ["a", "b", "1"], 5) as typeof value;
  expect(changed).toEqual({ a: { b: [1, 5] }, c: { d: 1 } });
  expect(changed.c).toBe(value.c);
  expect(value.a.b).toEqual([1, 2]);
  expect(put(value, ["c", "d"], undefined)).toEqual({ a: { b: [1, 2] }, c: {} });
  expect(put(value, ["a", "b", "0"], undefined)).toEqual({ a: { b: [null, 2] }, c: { d: 1 } });
  expect(put({}, ["x", "y"], 1)).toEqual({ x: { y: 1 } });
  expect(put(value, [], 1)).toBe(1);
});

it("puts keys of any name", () => {
  const changed = put({}, ["__proto__"], 1);
  expect(Object.keys(changed as object)).toEqual(["__proto__"]);
});
