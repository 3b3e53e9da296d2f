"""The reward of an episode: one number that its environment and its session agree on."""

from __future__ import annotations

import math
from typing import Any

from openenv.harness.rollouts.results import HarnessRolloutResult, ToolResult, VerifyResult
from openenv.harness.rollouts.rollout_errors import RewardError, RewardInvalid, RewardMissing
from openenv.protocol.errors import Json

REWARD, REWARD_ERROR = "reward", "reward_error"
RETURN = "return"
"""In a call's metadata, where an episode's reward is a sum: the sum so far, `None` without any."""
STEP_REWARDS = "step_rewards"
"""What each step is worth: in the metadata of the last observation, in the metrics of a record."""


def resolve_env_reward(rollout: HarnessRolloutResult, verify: VerifyResult) -> float:
    """The reward of an episode.

    It is that of the last call that had one, which `verify.env_reward` must repeat if it says
    any; where no call had one, it is `verify.env_reward`. Of calls that say the sum so far it is
    the last sum, and invalid if any call's reward is.

    Args:
        rollout: how the episode was played; calls say their reward in `metadata["reward"]`, else
            in `data["reward"]`, and the sum so far in `metadata["return"]`.
        verify: what the session says of it.

    Raises:
        RewardInvalid: the reward could not be computed (`reward_error` in the last call's
            metadata, or in `verify.metrics`), or it is no finite number.
        RewardMissing: there is none.
        RewardError: the two differ.
    """
    failure = verify.metrics.get(REWARD_ERROR)
    if failure is not None and verify.env_reward is None:
        raise RewardInvalid(f"the episode's reward could not be computed: {in_words(failure)}")
    said = None if verify.env_reward is None else _finite("verify.env_reward", verify.env_reward)
    given = _last_given(rollout)
    reward = said if given is None else given
    if reward is None:
        raise RewardMissing(
            f"the episode has no reward: none of its {len(rollout.tool_trace)} calls had one, and "
            "verify() gave none; let a tool's metadata have `reward`, or verify() return one"
        )
    if said is not None and not math.isclose(said, reward, rel_tol=1e-9, abs_tol=1e-6):
        raise RewardError(
            f"the last call's reward is {reward!r}, and verify.env_reward {said!r}: the session "
            "must repeat the environment's reward; report shaped rewards in verify.metrics"
        )
    return reward


def in_words(failure: Any) -> str:
    """A `reward_error` for people to read."""
    if not isinstance(failure, dict):
        return str(failure)
    parts = (failure.get(name) for name in ("rubric", "error", "message"))
    return ": ".join(str(part) for part in parts if part)


def _last_given(rollout: HarnessRolloutResult) -> float | None:
    if any(RETURN in entry.result.metadata for entry in rollout.tool_trace):
        return _last_sum(rollout)
    for entry in reversed(rollout.tool_trace):
        outcome = _outcome(entry.result)
        if outcome.get(REWARD) is not None:
            return _finite(f"the reward of {entry.tool_name}", outcome[REWARD])
        _refuse_failed(entry.tool_name, outcome)
    return None


def _last_sum(rollout: HarnessRolloutResult) -> float | None:
    given: float | None = None
    for entry in rollout.tool_trace:
        _refuse_failed(entry.tool_name, entry.result.metadata)
        if entry.result.metadata.get(RETURN) is not None:
            given = _finite(f"the sum after {entry.tool_name}", entry.result.metadata[RETURN])
    return given


def _refuse_failed(tool_name: str, outcome: Json) -> None:
    if outcome.get(REWARD_ERROR) is not None:
        raise RewardInvalid(
            f"the reward of {tool_name} could not be computed: {in_words(outcome[REWARD_ERROR])}"
        )


def _outcome(result: ToolResult) -> Json:
    """What says the reward of a call."""
    data: Json = result.data if isinstance(result.data, dict) else {}
    if result.metadata.get(REWARD) is None and result.metadata.get(REWARD_ERROR) is None:
        return data
    return result.metadata


def _finite(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise RewardInvalid(f"{what} is {value!r}, which is no number") from None
    if not math.isfinite(number):
        raise RewardInvalid(f"{what} is {number}, which is no finite number")
    return number
