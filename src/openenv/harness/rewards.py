"""The reward of an episode: one number that its environment and its session agree on."""

from __future__ import annotations

import math
from typing import Any

from openenv.harness.results import HarnessRolloutResult, ToolResult, VerifyResult
from openenv.harness.rollout_errors import RewardError, RewardInvalid, RewardMissing
from openenv.protocol.errors import Json

REWARD, REWARD_ERROR = "reward", "reward_error"
STEP_REWARDS = "step_rewards"
"""What each step is worth: in the metadata of the last observation, in the metrics of a record."""


def resolve_env_reward(rollout: HarnessRolloutResult, verify: VerifyResult) -> float:
    """The reward of an episode.

    It is that of the last call that had one, which `verify.env_reward` must repeat if it says
    any; where no call had one, it is `verify.env_reward`.

    Args:
        rollout: how the episode was played; calls say their reward in `metadata["reward"]`, else
            in `data["reward"]`.
        verify: what the session says of it.

    Raises:
        RewardInvalid: the reward could not be computed (`reward_error` in the last call's
            metadata, or in `verify.metrics`), or it is no finite number.
        RewardMissing: there is none.
        RewardError: the two differ.
    """
    failure = verify.metrics.get(REWARD_ERROR)
    if failure is not None and verify.env_reward is None:
        raise RewardInvalid(f"the episode's reward could not be computed: {failure}")
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


def _last_given(rollout: HarnessRolloutResult) -> float | None:
    for entry in reversed(rollout.tool_trace):
        outcome = _outcome(entry.result)
        if outcome.get(REWARD) is not None:
            return _finite(f"the reward of {entry.tool_name}", outcome[REWARD])
        if outcome.get(REWARD_ERROR) is not None:
            raise RewardInvalid(
                f"the reward of {entry.tool_name} could not be computed: {outcome[REWARD_ERROR]}"
            )
    return None


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
