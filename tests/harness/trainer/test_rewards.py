"""The reward of an episode: agreed on, missing, or invalid; never a zero that nobody gave."""

from typing import Any

import pytest

from openenv.core.harness import _resolve_env_reward
from openenv.harness import (
    HarnessRolloutResult,
    RewardError,
    RewardInvalid,
    RewardMissing,
    ToolResult,
    VerifyResult,
)
from openenv.harness.rollouts.results import ToolTraceEntry


def rollout(*results: ToolResult) -> HarnessRolloutResult:
    return HarnessRolloutResult(tool_trace=[ToolTraceEntry("move", {}, r) for r in results])


def given(reward: Any, **metadata: Any) -> ToolResult:
    return ToolResult(metadata={"reward": reward, **metadata})


@pytest.mark.parametrize(
    ("results", "said", "reward"),
    [
        ([given(1.0)], 1.0, 1.0),
        ([given(1.0)], None, 1.0),
        ([given(0)], 0.0, 0.0),
        ([], 2.0, 2.0),
        ([ToolResult(data={"reward": 1.0})], 1.0, 1.0),
        ([ToolResult(data={"reward": 3.0}, metadata={"reward": 1.0})], 1.0, 1.0),
        ([given(1.0), given(None), ToolResult(data="text")], 1.0, 1.0),
        ([given(0.5), given(1.0)], 1.0 + 1e-10, 1.0),
        ([given(None, reward_error="late"), given(1.0)], 1.0, 1.0),
    ],
)
def test_the_last_reward_is_the_episodes(
    results: list[ToolResult], said: float | None, reward: float
) -> None:
    assert _resolve_env_reward(rollout(*results), VerifyResult(env_reward=said)) == reward


@pytest.mark.parametrize("said", [2.0, 1.001, -1.0])
def test_two_rewards_are_a_contradiction(said: float) -> None:
    with pytest.raises(ValueError, match="must repeat the environment's reward") as wrong:
        _resolve_env_reward(rollout(given(1.0)), VerifyResult(env_reward=said))
    assert isinstance(wrong.value, RewardError)


def test_no_reward_is_missing() -> None:
    with pytest.raises(RewardMissing, match="none of its 1 calls"):
        _resolve_env_reward(rollout(given(None)), VerifyResult())


@pytest.mark.parametrize(
    ("result", "verdict", "words"),
    [
        (given(None, reward_error="the judge slept"), VerifyResult(), "the judge slept"),
        (given(None, reward_error="the judge slept"), VerifyResult(env_reward=1.0), "judge slept"),
        (given(float("nan")), VerifyResult(), "no finite number"),
        (given(float("-inf")), VerifyResult(), "no finite number"),
        (given("much"), VerifyResult(), "'much'"),
        (given(1.0), VerifyResult(env_reward=float("nan")), "verify.env_reward"),
        (given(None), VerifyResult(metrics={"reward_error": "no judge"}), "no judge"),
    ],
)
def test_an_invalid_reward_is_no_reward(
    result: ToolResult, verdict: VerifyResult, words: str
) -> None:
    with pytest.raises(RewardInvalid, match=words):
        _resolve_env_reward(rollout(result), verdict)
