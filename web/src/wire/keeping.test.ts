import { afterEach, expect, it, vi } from "vitest";
import { Keeping } from "./keeping";
import { KeptEntries } from "./kept_entries";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("keeps nothing where the browser's database never answers", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("indexedDB", { open: () => ({}) });
  const opening = KeptEntries.open("tab");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await (await opening).load()).toEqual([]);
});

it.each([{}, { locks: undefined }])("does without locks and storage: %j", async (navigator) => {
  vi.stubGlobal("navigator", navigator);
  const keeping = await Keeping.open("http://127.0.0.1/");
  expect(keeping.log.length).toBe(0);
  await new Promise((resolve) => setTimeout(resolve)); // a claim that is refused is told later
});
