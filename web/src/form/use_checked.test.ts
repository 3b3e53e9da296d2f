import { expect, it } from "vitest";
import { put } from "../schema/path";
import type { Fault, Json } from "../types";
import { stillWrong } from "./use_checked";

const VALUE = { a: 1, list: [{ x: 1 }, { x: 2 }], shape: { side: 0 } };
const FAULTS: Fault[] = [["a"], ["list", 1, "x"], ["shape"], ["new"]].map((loc) => ({ loc, msg: "" }));

function left(steps: string[], next: Json): string[] {
  return stillWrong(FAULTS, VALUE, put(VALUE, steps, next)!).map((fault) => fault.loc.join("."));
}

it("forgets what is wrong with a field once it, or a part of it, changes", () => {
  expect(left(["a"], 2)).toEqual(["list.1.x", "shape", "new"]);
  expect(left(["list", "1", "x"], 3)).toEqual(["a", "shape", "new"]);
  expect(left(["shape", "side"], 3)).toEqual(["a", "list.1.x", "new"]);
  expect(left(["new"], "")).toEqual(["a", "list.1.x", "shape"]);
});

it("keeps the same list while none of it changes", () => {
  expect(stillWrong(FAULTS, VALUE, put(VALUE, ["list", "0", "x"], 5)!)).toBe(FAULTS);
});
