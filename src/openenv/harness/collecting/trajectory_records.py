"""The record of a trajectory."""

from __future__ import annotations

import json
from typing import Any

from openenv.harness.collecting.records import EpisodeRecord
from openenv.harness.rollouts.rewards import REWARD, REWARD_ERROR, STEP_REWARDS, in_words
from openenv.harness.rollouts.rollout_errors import RewardInvalid
from openenv.protocol.errors import Json
from openenv.rollout.trajectories.plain import to_plain
from openenv.rollout.trajectories.trajectory import Beginning, Trajectory, Transition


def record_of(trajectory: Trajectory, task: Any = None) -> EpisodeRecord:
    """A trajectory as the record of an episode.

    Args:
        trajectory: what was played.
        task: what it was about.
    """
    error = trajectory.error
    why = {} if error is None else {"error": error["type"], "message": error["message"]}
    return EpisodeRecord(
        episode_id=trajectory.episode_id,
        messages=_messages(trajectory) if trajectory.messages is None else trajectory.messages,
        reward=trajectory.total_reward,
        done=trajectory.end in ("terminated", "truncated"),
        tool_trace=[_traced(step) for step in trajectory.steps],
        metrics={
            "turns": len(trajectory.steps),
            "truncated": trajectory.end in ("truncated", "limit"),
            "stopped_by": _stopped_by(trajectory),
            **_credit(trajectory),
        },
        task=task,
        extra={"seed": trajectory.seed, **why},
    )


def unscored(trajectory: Trajectory) -> RewardInvalid | None:
    """Why an episode has no reward though it should have one."""
    for number, step in enumerate(trajectory.steps, 1):
        if step.reward_error is not None:
            return RewardInvalid(f"the reward of step {number}: {in_words(step.reward_error)}")
    return None


def _messages(trajectory: Trajectory) -> list[Json]:
    """What was seen and done, by turns."""
    begun = trajectory.reset
    messages = [] if begun is None else [_seen(begun)]
    for step in trajectory.steps:
        messages.append(_message("assistant", step.action))
        messages.append(_seen(step))
    return messages


def _seen(part: Beginning | Transition) -> Json:
    told = {"metadata": part.metadata} if part.metadata else {}
    return _message("user", {**part.observation, **told})


def _message(role: str, content: Json) -> Json:
    return {"role": role, "content": json.dumps(to_plain(content), ensure_ascii=False)}


def _traced(step: Transition) -> Json:
    ended = step.terminated or step.truncated
    outcome: Json = {REWARD: step.reward, "done": ended}
    if step.reward_error is not None:
        outcome.update({REWARD: None, REWARD_ERROR: step.reward_error})
    action = step.action
    called: Json = {"tool_name": "step", "arguments": action}
    if action.get("type") == "call_tool":
        called = {"tool_name": action["tool_name"], "arguments": action.get("arguments", {})}
    return {**called, "result": outcome}


def _stopped_by(trajectory: Trajectory) -> str:
    if trajectory.end in ("terminated", "truncated"):
        return "environment"
    return trajectory.end


def _credit(trajectory: Trajectory) -> Json:
    """What each step is worth, where the environment says so when an episode ends."""
    told = trajectory.steps[-1].metadata.get(STEP_REWARDS) if trajectory.steps else None
    return {} if told is None else {STEP_REWARDS: told}
