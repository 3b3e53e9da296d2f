import { expect, it } from "vitest";
import { Places } from "./places";

it("keeps a bounded number of places, the latest", () => {
  const places = new Places();
  for (let index = 0; index < 5000; index++) places.set(`p${index}`, index);
  places.set("p4000", 1);
  expect(places.get("p0")).toBeUndefined();
  expect(places.get("p4000")).toBe(1);
  expect(places.get("p4999")).toBe(4999);
});
