import { describe, expect, it } from "vitest";
import type { Result } from "../types";
import { doneBadge, metadataOf, rewardBadge } from "./badges";
import { changeText } from "./changed";

function result(more: Partial<Result>): Result {
  return { observation: {}, reward: null, done: false, ...more };
}

describe("rewardBadge", () => {
  it("says the sign in words, not by the colour alone", () => {
    expect(rewardBadge(1.3, {})).toEqual({ text: "reward +1.3", tone: "ok" });
    expect(rewardBadge(-0.1, {})).toEqual({ text: "reward −0.1", tone: "bad" });
    expect(rewardBadge(0, {})).toEqual({ text: "reward 0", tone: "plain" });
    expect(rewardBadge(0.1 + 0.2, {}).text).toBe("reward +0.3");
    expect(rewardBadge(1e-9, {}).text).toBe("reward +1e-9");
  });

  it("tells no reward, one that is no number, and one that failed apart", () => {
    expect(rewardBadge(null, {}).text).toBe("no reward");
    expect(rewardBadge(Number.NaN, {})).toEqual({ text: "reward NaN", tone: "warn" });
    expect(rewardBadge(null, { reward_error: { message: "x" } })).toEqual({
      text: "reward failed",
      tone: "bad",
    });
  });
});

describe("doneBadge", () => {
  it("says how an episode ended where that is told", () => {
    const said = (more: Partial<Result>) => doneBadge(result(more), metadataOf(result(more))).text;
    expect(said({})).toBe("episode running");
    expect(said({ done: true })).toBe("episode over");
    expect(said({ done: true, truncated: true })).toBe("episode over: truncated");
    expect(said({ done: true, metadata: { truncated: true } })).toBe("episode over: truncated");
    expect(said({ done: true, observation: { metadata: { terminated: true } } })).toBe(
      "episode over: terminated",
    );
  });
});

describe("changeText", () => {
  it("tells the former value where it is short", () => {
    expect(changeText(3)).toBe("was 3");
    expect(changeText(null)).toBe("was null");
    expect(changeText("")).toBe("changed");
    expect(changeText("a\nb")).toBe("changed");
    expect(changeText([1])).toBe("changed");
    expect(changeText(undefined)).toBe("new");
  });
});
