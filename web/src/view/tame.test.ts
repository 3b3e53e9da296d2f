import { expect, it } from "vitest";
import { isTame } from "./tame";

it.each([
  "- ".repeat(25_000),
  "> ".repeat(25_000),
  ">".repeat(50_000),
  "1. ".repeat(16_000),
  `a\n${"> - ".repeat(12_000)}`,
  `${"  ".repeat(200)}- a`,
  `${"|a".repeat(200)}|\n${"|-".repeat(200)}|\n${"|\n".repeat(24_000)}`,
])("is not case %#, which takes seconds", (text) => {
  expect(isTame(text)).toBe(false);
});

it.each([
  "# A\n\n- a\n  - b\n    1. c\n\n> d\n> > e",
  `${"-".repeat(200)}\n${"*".repeat(200)}`,
  `| a | b |\n|---|:-:|\n${"| 1 | 2 |\n".repeat(2000)}`,
  " ".repeat(50_000),
  "1".repeat(50_000),
  `${"[".repeat(50_000)}\n`,
  `${" ".repeat(200)}code`,
])("is case %#", (text) => {
  expect(isTame(text)).toBe(true);
});
