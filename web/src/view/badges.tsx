import { figure } from "../figures";
import { isObject } from "../json";
import type { JsonObject, Result } from "../types";

/** A badge has room for more figures than a row of the history. */
export const BADGE_FIGURES = 6;

/** What a badge says, and whether that is good. */
export interface BadgeText {
  text: string;
  tone: "ok" | "warn" | "bad" | "plain";
}

/** The badge of a reward: its sign and number, or why there is none. */
export function rewardBadge(reward: number | null, metadata: JsonObject): BadgeText {
  if (metadata.reward_error !== undefined) return { text: "reward failed", tone: "bad" };
  if (reward === null) return { text: "no reward", tone: "plain" };
  if (!Number.isFinite(reward)) return { text: `reward ${reward}`, tone: "warn" };
  const sign = reward > 0 ? "+" : reward < 0 ? "−" : "";
  const tone = reward > 0 ? "ok" : reward < 0 ? "bad" : "plain";
  return { text: `reward ${sign}${figure(Math.abs(reward), BADGE_FIGURES)}`, tone };
}

/** The badge of an episode: whether it is over, and by its own rules or by a limit where that is told. */
export function doneBadge(result: Result, metadata: JsonObject): BadgeText {
  if (!result.done) return { text: "episode running", tone: "plain" };
  const told = (name: string) => metadata[name] === true || result.observation[name] === true;
  if (result.truncated === true || told("truncated"))
    return { text: "episode over: truncated", tone: "warn" };
  return { text: told("terminated") ? "episode over: terminated" : "episode over", tone: "warn" };
}

/** What stands beside an observation, or in it, as servers of any version have it. */
export function metadataOf(result: Result): JsonObject {
  const inside = result.observation.metadata;
  return { ...(isObject(inside) ? inside : {}), ...result.metadata };
}

/** Reward and end of an episode in words, signs and colours. */
export function Badges({ result }: { result: Result }) {
  const metadata = metadataOf(result);
  return (
    <p class="view-badges">
      <Badge {...rewardBadge(result.reward, metadata)} />
      <Badge {...doneBadge(result, metadata)} />
    </p>
  );
}

/** A short word with a colour. */
export function Badge({ text, tone }: BadgeText) {
  return <span class={`view-badge view-badge-${tone}`}>{text}</span>;
}
