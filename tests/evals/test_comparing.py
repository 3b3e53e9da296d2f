"""Which of two policies is better: by the seeds that both played, or not to be told."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from openenv.evals import Comparison, EpisodeOutcome, Evaluation, NotAnEvaluation, Scorecard, Side
from openenv.evals import compare as compared
from openenv.evals.outcomes import said_success
from tests.evals.lottery import played


def side(name: str, rewards: Sequence[float | None], seed: int = 0, **conditions: Any) -> Side:
    """A policy that has these rewards, the first of them for a seed."""
    episodes = [played([reward], seed + number) for number, reward in enumerate(rewards)]
    outcomes = [EpisodeOutcome.of(episode, said_success) for episode in episodes]
    own: dict[str, Any] = {
        "environment": {"name": "lottery", "version": "1"},
        "openenv_version": "1",
        "started_at": "2030-01-01T00:00:00+00:00",
        "seeds": [episode.seed for episode in episodes],
        "policies": [Scorecard(name, outcomes)],
    }
    return Side.of(Evaluation(**{**own, **conditions}))


def noisy(shift: float, count: int = 20) -> list[float]:
    """What the seeds deal, which is much, and a little that is the policy's."""
    deals, own = random.Random(1), random.Random(shift)
    return [deals.gauss(0.0, 10.0) + shift + own.gauss(0.0, 0.1) for _ in range(count)]


def test_pairs_tell_what_the_scatter_of_the_seeds_would_hide() -> None:
    better, worse = side("better", noisy(1.0)), side("worse", noisy(0.0))
    outcome = compared(better, worse)
    assert outcome.better == "better"
    assert outcome.mean_difference == pytest.approx(1.0, abs=0.1)
    assert outcome.verdict == "better is better than worse, by the rewards of 20 seeds"
    assert compared(worse, better).better == "better"
    one, other = better.card.reward_interval, worse.card.reward_interval
    assert one is not None
    assert other is not None
    assert one.low < other.high  # apart, they could not be told


def test_what_is_alike_cannot_be_told() -> None:
    outcome = compared(side("a", noisy(0.0)), side("b", noisy(0.001)))
    assert outcome.better is None
    assert outcome.verdict.startswith("cannot tell: the interval")
    assert compared(side("a", [1.0] * 9), side("b", [1.0] * 9)).better is None


def test_few_pairs_tell_nothing_however_clear_they_look() -> None:
    five = compared(side("a", [1.0] * 5), side("b", [0.0] * 5))
    assert (five.better, five.mean_difference) == (None, 1.0)
    assert "6 are needed" in five.verdict
    assert compared(side("a", [1.0] * 6), side("b", [0.0] * 6)).better == "a"


def test_seeds_without_a_reward_of_both_are_left_out_and_said() -> None:
    outcome = compared(side("a", [1.0, None, 1.0]), side("b", [0.0, 0.0, None]))
    assert outcome.differences == {0: 1.0}
    assert outcome.unpaired == 2
    assert outcome.interval is None
    assert any("2 seeds are left out" in line for line in outcome.warnings)


def test_without_a_seed_in_common_there_is_no_difference() -> None:
    outcome = compared(side("a", [1.0] * 9), side("b", [0.0] * 9, seed=100))
    assert (outcome.better, outcome.mean_difference, outcome.differences) == (None, None, {})
    assert "seeds differ: 0 are in both" in outcome.warnings


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"environment": {"name": "lottery", "version": "2"}}, "environment differs"),
        ({"options": {"chance": 1.0}}, "options differs"),
        ({"max_steps": 3}, "max_steps differs"),
        ({"openenv_version": "2"}, "openenv_version differs"),
    ],
)
def test_other_conditions_are_warned_of(other: dict[str, Any], told: str) -> None:
    outcome = compared(side("a", [1.0]), side("b", [1.0], **other))
    assert [line for line in outcome.warnings if line.startswith(told)]
    assert not compared(side("a", [1.0]), side("b", [1.0])).warnings


def test_a_side_is_named_where_there_are_several() -> None:
    both = Evaluation(
        **{
            **vars(side("a", [1.0]).evaluation),
            "policies": [side("a", [1.0]).card, side("b", [2.0]).card],
        }
    )
    assert Side.of(both, "b").card.mean_reward == 2.0
    for wrong in (None, "c"):
        with pytest.raises(NotAnEvaluation, match="a, b"):
            Side.of(both, wrong)


def test_a_comparison_is_json() -> None:
    outcome: Comparison = compared(side("a", noisy(1.0)), side("b", noisy(0.0)))
    said = outcome.to_dict()
    assert (said["better"], said["pairs"], said["unpaired"]) == ("a", 20, 0)
    assert said["ci95"][0] < said["mean_difference"] < said["ci95"][1]
    assert said["differences"][0].keys() == {"seed", "difference"}
