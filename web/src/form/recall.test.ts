import { expect, it } from "vitest";
import { recallStep, type Caret } from "./recall";

const line = (at: number, to = at): Caret => ({ lines: "one", from: at, to, length: 10 });
const text = (at: number, to = at): Caret => ({ lines: "many", from: at, to, length: 10 });

it.each<[string, string, Caret, boolean, number]>([
  ["up in a line", "ArrowUp", line(5), false, 1],
  ["down in a line", "ArrowDown", line(5), false, -1],
  ["another key", "ArrowLeft", line(0), true, 0],
  ["with something selected", "ArrowUp", line(0, 5), false, 0],
  ["up at the start of an untouched text", "ArrowUp", text(0), true, 1],
  ["up within an untouched text", "ArrowUp", text(5), true, 0],
  ["down at its end", "ArrowDown", text(10), true, -1],
  ["down at its start", "ArrowDown", text(0), true, 0],
  ["up at the start of a text that is being written", "ArrowUp", text(0), false, 0],
])("%s", (_, key, caret, untouched, step) => {
  expect(recallStep(key, caret, untouched)).toBe(step);
});
