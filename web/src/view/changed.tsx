import type { Json } from "../types";

const LONGEST = 24;

/** Says that a value is not what it was one step ago, and what it was if that is short. */
export function Changed({ was }: { was: Json | undefined }) {
  return <span class="view-changed">{changeText(was)}</span>;
}

/** What is said of a change, by the value before it. */
export function changeText(was: Json | undefined): string {
  if (was === undefined) return "new";
  const text = typeof was === "object" && was !== null ? null : String(was);
  return text !== null && text !== "" && text.length <= LONGEST && !text.includes("\n")
    ? `was ${text}`
    : "changed";
}
