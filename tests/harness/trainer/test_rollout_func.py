"""Rollout functions, called as TRL's trainers call them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from openenv.harness import (
    HarnessRunLimits,
    MCPHarnessAdapter,
    ModelStepResult,
    ResourceSession,
    RewardError,
    RewardMissing,
    RolloutFailed,
    ToolResult,
    VerifyResult,
    build_harness_rollout_func,
)
from tests.harness.trainer.worlds import (
    NOT_A_NUMBER,
    UNSCORED,
    Stepping,
    guesses,
    stepping,
    taking,
    turn,
)
from tests.serving import Served

PROMPT = [{"role": "user", "content": "find it"}]
Tokens = tuple[list[int], list[int]]


def rollouts(
    url: str,
    turns: list[tuple[int, Tokens]],
    limits: HarnessRunLimits | None = None,
    make: Callable[..., ResourceSession] | None = None,
    reward_key: str = "env_reward",
) -> Callable[[list[Any], Any], dict[str, list[Any]]]:
    """A rollout function whose model guesses, with the tokens of each turn."""

    class Factory:
        def create(self, task: Any) -> ResourceSession:
            return make() if make else Stepping(url).create(task, seed=3)

    def builder(trainer: Any, session: ResourceSession) -> Callable[..., ModelStepResult]:
        assert (trainer, session.initial_messages()[0]["role"]) == ("the trainer", "user")
        made = [
            lambda n=n, tokens=tokens: turn(("guess", {"n": n}), tokens=tokens)
            for n, tokens in turns
        ]
        step: Callable[..., ModelStepResult] = taking(*made)
        return step

    return build_harness_rollout_func(
        session_factory=Factory(),
        harness_adapter=MCPHarnessAdapter(),
        model_step_builder=builder,
        limits=limits,
        reward_key=reward_key,
    )


def test_one_episode_a_prompt(url: str, game: Served) -> None:
    play = rollouts(url, [(3, ([1, 2], [5, 6]))])
    assert play([PROMPT] * 4, "the trainer") == {
        "prompt_ids": [[1, 2]] * 4,
        "completion_ids": [[5, 6]] * 4,
        "logprobs": [[-0.5, -0.5]] * 4,
        "env_reward": [1.0] * 4,
        "verify_metrics": [{}] * 4,
    }
    assert game.active() == 0
    assert play([], "the trainer")["prompt_ids"] == []


def test_what_the_model_was_told_between_turns_is_masked(url: str) -> None:
    turns = [(5, ([1, 2], [5])), (4, ([1, 2, 5, 8, 9], [4])), (3, ([1, 2, 5, 8, 9, 4, 8], [3, 7]))]
    rows = rollouts(url, turns, reward_key="score")([PROMPT], "the trainer")
    assert rows["prompt_ids"] == [[1, 2]]
    assert rows["completion_ids"] == [[5, 8, 9, 4, 8, 3, 7]]
    assert rows["env_mask"] == [[1, 0, 0, 1, 0, 1, 1]]
    assert rows["logprobs"] == [[-0.5, 0.0, 0.0, -0.5, 0.0, -0.5, -0.5]]
    assert rows["score"] == [1.0]


def test_turns_whose_tokens_do_not_go_on_are_joined_with_a_warning(url: str) -> None:
    turns = [(5, ([1, 2], [5])), (3, ([1, 9], [3]))]
    with pytest.warns(RuntimeWarning, match="max_turns=1"):
        rows = rollouts(url, turns)([PROMPT], "the trainer")
    assert (rows["prompt_ids"], rows["completion_ids"]) == ([[1, 2, 1, 9]], [[5, 3]])
    assert "env_mask" not in rows


@pytest.mark.parametrize("number", [UNSCORED, NOT_A_NUMBER])
def test_a_reward_that_could_not_be_computed_is_none(url: str, number: int) -> None:
    rows = rollouts(url, [(number, ([1], [2]))])([PROMPT], "the trainer")
    assert rows["env_reward"] == [None]
    assert rows["verify_metrics"][0]["reward_error"]


@pytest.mark.parametrize(
    ("reward", "said", "error"),
    [(None, None, RewardMissing), (1.0, 2.0, RewardError), (None, 0.5, None)],
)
def test_a_reward_is_one_and_the_same(
    url: str, game: Served, reward: Any, said: Any, error: type[Exception] | None
) -> None:
    def make() -> ResourceSession:
        return stepping(
            url,
            tool_result_builder=lambda *given: ToolResult(done=True, metadata={"reward": reward}),
            verify_builder=lambda *given: VerifyResult(env_reward=said, metrics={"own": 1}),
        )

    play = rollouts(url, [(3, ([1], [2]))], make=make)
    if error is None:
        assert play([PROMPT], "the trainer")["env_reward"] == [said]
        assert play([PROMPT], "the trainer")["verify_metrics"] == [{"own": 1}]
    else:
        with pytest.raises(error):
            play([PROMPT], "the trainer")
    assert game.active() == 0


def test_a_rollout_that_fails_leaves_no_session(url: str, game: Served) -> None:
    play = rollouts(url, [(5, ([1], [2]))])
    with pytest.raises(RolloutFailed, match="after 1 calls"):
        play([PROMPT], "the trainer")  # there is no second turn
    assert game.active() == 0


def test_limits_hold(url: str) -> None:
    play = rollouts(url, [(5, ([1], [2]))] * 2, HarnessRunLimits(max_turns=1))
    assert play([PROMPT], "the trainer")["env_reward"] == [0.0]


def test_inside_an_event_loop(url: str) -> None:
    async def train() -> dict[str, list[Any]]:
        return rollouts(url, [(3, ([1], [2]))])([PROMPT], "the trainer")

    assert asyncio.run(train())["env_reward"] == [1.0]


def test_the_model_is_asked_with_the_limits_sampling(url: str) -> None:
    model = guesses(3)
    play = build_harness_rollout_func(
        session_factory=Stepping(url),
        harness_adapter=MCPHarnessAdapter(),
        model_step_builder=lambda trainer, session: model,
        limits=HarnessRunLimits(sampling={"max_tokens": 8}),
    )
    play([PROMPT], None)
    assert model.asked[0][2] == {"max_tokens": 8}
