import { expect, it } from "vitest";
import { duration, figure, signed } from "./figures";

it("writes figures briefly", () => {
  expect([signed(1), signed(-0.25), signed(0), signed(null), signed(Number.NaN)]).toEqual([
    "+1",
    "−0.25",
    "0",
    "–",
    "NaN",
  ]);
  expect([figure(1 / 3), figure(123456), duration(0.42), duration(12.6), duration(1234)]).toEqual([
    "0.3333",
    "123456",
    "0.4 ms",
    "13 ms",
    "1.234 s",
  ]);
});
