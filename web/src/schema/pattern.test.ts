import { expect, it } from "vitest";
import { longestFor } from "./pattern";

it.each([
  "^(a+)+$",
  "^(a|a)*$",
  "(a*)*b",
  "^(?:\\w+\\s?)*$",
  "^(?<word>[a-z]+|x){2,}$",
  "^((a+))+$",
  "^(a{1,5})+$",
  "^(a?){40}a{40}$",
  `^${"a?".repeat(30)}${"a".repeat(30)}$`,
  "^([)]+)*$",
])("leaves %s to the server", (pattern) => {
  expect(longestFor(pattern)).toBe(0);
});

it.each([
  "^a",
  "^[a-z0-9_-]+$",
  "^([0-9a-f]{4}-){3}$",
  "^(a|b)$",
  "^\\(+\\)$",
  "^[(+)]+$",
  "^\\d{3}(\\.\\d{2})?$",
])("tries %s", (pattern) => {
  expect(longestFor(pattern)).toBeGreaterThan(1000);
});

it("tries what takes more steps on shorter texts", () => {
  expect(longestFor("a*a*a*a*a*b")).toBeLessThan(20);
  expect(longestFor("^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$")).toBeGreaterThan(20);
});
