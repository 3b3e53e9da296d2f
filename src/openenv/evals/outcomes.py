"""Outcomes: what an evaluation keeps of an episode, and what makes one a success."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from openenv.protocol.errors import ConfigurationError, Json
from openenv.rollout.trajectories.trajectory import Trajectory

Reason = Literal[
    "success", "failure", "terminated", "truncated", "limit", "invalid_action", "error"
]
"""Why an episode ended: its own rules, and whether well or badly if the environment says so; a
limit of the environment; `max_steps` or the policy; an action that was refused; another error."""
Success: TypeAlias = Callable[[Trajectory], bool | None]
"""Whether an episode was one; `None` if that cannot be told."""
_FLAGS = ("is_success", "success")
_WORDS = {"success": True, "failure": False, "failed": False}
_WORD_FIELDS = ("termination_reason", "status")
_RULE = re.compile(r"reward>=(?P<least>.+)|(?P<field>[^=<>]+)=(?P<value>.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class EpisodeOutcome:
    """One episode, without what was seen and done.

    Attributes:
        episode_id: its name.
        seed: its seed.
        reward: the sum of its rewards; `None` if it has none that counts.
        reason: why it ended.
        success: whether it was one; `None` if that cannot be told.
        steps: how many.
        seconds: how long the environment took for all of it.
        unscored: why there is no reward; `None` if there is one.
    """

    episode_id: str
    seed: int | None
    reward: float | None
    reason: Reason
    success: bool | None
    steps: int
    seconds: float
    unscored: str | None

    @property
    def failed(self) -> bool:
        """Whether an error ended it, so that it says nothing of its policy."""
        return self.reason in ("error", "invalid_action")

    @classmethod
    def of(cls, trajectory: Trajectory, success: Success) -> EpisodeOutcome:
        """What is kept of an episode."""
        reward = trajectory.total_reward
        succeeded = None if trajectory.end == "error" else success(trajectory)
        latencies = [step.latency_ms for step in trajectory.steps]
        if trajectory.reset is not None:
            latencies.append(trajectory.reset.latency_ms)
        return cls(
            episode_id=trajectory.episode_id,
            seed=trajectory.seed,
            reward=reward,
            reason=_reason(trajectory, succeeded),
            success=succeeded,
            steps=len(trajectory),
            seconds=round(sum(latencies) / 1000, 6),
            unscored=_why_unscored(trajectory) if reward is None else None,
        )


def said_success(trajectory: Trajectory) -> bool | None:
    """Whether the environment says of an episode's end that it was a success.

    It says so by `is_success` or `success`, which are true or false, or by a `termination_reason`
    or `status` of `success`, `failure` or `failed`: in the last observation, or in its metadata. A
    reward above 0 is none: an episode that achieves nothing may pay something.
    """
    last = _last(trajectory)
    for name in _FLAGS:
        if isinstance(last.get(name), bool):
            return bool(last[name])
    for name in _WORD_FIELDS:
        word = last.get(name)
        if isinstance(word, str) and word.lower() in _WORDS:
            return _WORDS[word.lower()]
    return None


def success_rule(text: str) -> Success:
    """What makes an episode a success, in words.

    Args:
        text: `FIELD=VALUE`, of the last observation or its metadata, as in `result=win`; or
            `reward>=NUMBER`, of the episode's total.

    Raises:
        ConfigurationError: it is neither.
    """
    rule = _RULE.fullmatch(text.strip())
    least = rule["least"] if rule else None
    try:
        threshold = None if least is None else float(least)
    except ValueError:
        rule = None
    if rule is None or (threshold is not None and math.isnan(threshold)):
        raise ConfigurationError(
            f"a rule of success is FIELD=VALUE, as in result=win, or reward>=NUMBER; got {text!r}"
        )
    if least is not None:
        return lambda trajectory: _at_least(trajectory.total_reward, threshold or 0.0)
    field, value = rule["field"].strip(), rule["value"].strip()
    return lambda trajectory: _is(_last(trajectory), field, value)


def _at_least(reward: float | None, threshold: float) -> bool | None:
    return None if reward is None else reward >= threshold


def _is(last: Json, field: str, value: str) -> bool | None:
    """Whether a field reads so; `None` where there is none."""
    return _words(last[field]) == value.lower() if field in last else None


def _words(value: Any) -> str:
    return str(value).lower()


def _last(trajectory: Trajectory) -> Json:
    """What was seen last, with what came along."""
    last = trajectory.steps[-1] if trajectory.steps else trajectory.reset
    return {**last.metadata, **last.observation} if last else {}


def _reason(trajectory: Trajectory, success: bool | None) -> Reason:
    if trajectory.end == "error":
        refused = (trajectory.error or {}).get("code") == "VALIDATION_ERROR"
        return "invalid_action" if refused and trajectory.reset else "error"
    if success:
        return "success"
    if trajectory.end == "terminated":
        return "terminated" if success is None else "failure"
    return trajectory.end


def _why_unscored(trajectory: Trajectory) -> str:
    """Why an episode has no reward that counts."""
    if trajectory.end == "error":
        error = trajectory.error or {}
        return f"{error.get('code') or error.get('type')}: {error.get('message')}"
    for number, step in enumerate(trajectory.steps, 1):
        if step.reward_error:
            said = step.reward_error.get("message") or step.reward_error
            return f"the reward of step {number} could not be computed: {said}"
    rewards = [step.reward for step in trajectory.steps if step.reward is not None]
    if rewards:
        return f"the rewards add up to {sum(rewards)}"
    return f"no reward was given in {len(trajectory)} steps"
