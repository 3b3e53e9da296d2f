/** The page's colours, as its style sheet names them. */
export interface Theme {
  scheme: "light" | "dark";
  variables: Record<string, string>;
}

/** What the page hands to the frame. */
export interface Show {
  type: "show";
  html: string;
  theme: Theme;
  /** Whether keys are wanted: those that scroll are then the environment's. */
  keys: boolean;
}

/** What the frame tells the page. */
export type Told = { type: "ready" } | { type: "height"; height: number } | { type: "key"; key: string };

const LEAST_HEIGHT = 40;
const MOST_HEIGHT = 900;
const LONGEST_KEY = 20;

/** What a message from the frame says, null if it is none: whoever made the HTML is not believed. */
export function toldIn(message: unknown): Told | null {
  if (typeof message !== "object" || message === null || !("type" in message)) return null;
  if (message.type === "ready") return { type: "ready" };
  if (message.type === "height" && "height" in message) return heightIn(message.height);
  if (message.type === "key" && "key" in message) return keyIn(message.key);
  return null;
}

function heightIn(height: unknown): Told | null {
  if (typeof height !== "number" || !Number.isFinite(height)) return null;
  return { type: "height", height: bounded(height) };
}

function keyIn(key: unknown): Told | null {
  return typeof key === "string" && key.length > 0 && key.length <= LONGEST_KEY ? { type: "key", key } : null;
}

/** A height that a frame may have. */
export function bounded(height: number): number {
  return Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, Math.ceil(height)));
}
