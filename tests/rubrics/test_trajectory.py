"""Delayed rewards: the score of an episode, and the credit of its steps."""

import asyncio
from typing import Any

import pytest

from openenv import Observation
from openenv.rubrics import ExponentialDiscountingTrajectoryRubric, Gate, TrajectoryRubric
from tests.rubrics.scorers import Episode, settled


def _play(rubric: TrajectoryRubric, steps: int) -> list[float]:
    return [settled(rubric(step, Observation(done=step == steps - 1))) for step in range(steps)]


def test_four_steps_and_a_win() -> None:
    rubric = Episode(gamma=0.5, intermediate_reward=-0.5)
    assert _play(rubric, 4) == [-0.5, -0.5, -0.5, 1.0]
    assert rubric.compute_step_rewards() == [0.125, 0.25, 0.5, 1.0]


@pytest.mark.parametrize(("gamma", "credits_"), [(0.0, [0.0, 0.0, 1.0]), (1.0, [1.0, 1.0, 1.0])])
def test_the_ends_of_discounting(gamma: float, credits_: list[float]) -> None:
    rubric = Episode(gamma=gamma)
    _play(rubric, 3)
    assert rubric.compute_step_rewards() == credits_


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan")])
def test_discounts_that_are_none(gamma: float) -> None:
    with pytest.raises(ValueError, match="gamma must be between 0 and 1"):
        Episode(gamma=gamma)
    with pytest.raises(ValueError, match="gamma must be between 0 and 1"):
        Episode().load_state_dict({"gamma": gamma})


def test_a_limit_ends_an_episode_too() -> None:
    assert Episode()("action", Observation(truncated=True)) == 1.0


def test_nothing_is_left_after_a_reset() -> None:
    rubric = Episode(gamma=0.5)
    assert rubric.compute_step_rewards() == []
    _play(rubric, 3)
    rubric.reset()
    assert (rubric.trajectory, rubric.compute_step_rewards()) == ([], [])
    _play(rubric, 2)
    assert rubric.compute_step_rewards() == [0.5, 1.0]


def test_a_reset_amid_an_episode_forgets_its_beginning() -> None:
    rubric = Episode(gamma=0.5)
    rubric("action", Observation())
    Gate(rubric).reset()
    _play(rubric, 2)
    assert rubric.compute_step_rewards() == [0.5, 1.0]


def test_the_trajectory_is_a_copy_of_what_happened() -> None:
    rubric, observation = Episode(), Observation()
    rubric("action", observation)
    rubric.trajectory.clear()
    assert rubric.trajectory == [("action", observation)]


class Judged(ExponentialDiscountingTrajectoryRubric):
    asked = 0

    async def score_trajectory(self, trajectory: Any) -> float:
        await asyncio.sleep(0)
        self.asked += 1
        return float(len(trajectory))


def test_a_judge_may_be_awaited_and_is_asked_once() -> None:
    rubric = Judged(gamma=0.5)
    assert _play(rubric, 3) == [0.0, 0.0, 3.0]
    assert rubric.compute_step_rewards() == [0.75, 1.5, 3.0]
    assert rubric.asked == 1


def test_state() -> None:
    rubric = Episode(gamma=0.5, intermediate_reward=0.1)
    assert rubric.state_dict() == {"gamma": 0.5, "intermediate_reward": 0.1}
    other = Episode()
    other.load_state_dict({"gamma": 0.5})
    assert (other.gamma, other.intermediate_reward) == (0.5, 0.0)
