"""What is kept of an episode: why it ended, apart from its reward, and why it has none."""

from typing import Any

import pytest

from openenv.evals.outcomes import EpisodeOutcome, said_success, success_rule
from openenv.protocol.errors import ConfigurationError
from openenv.rollout import Trajectory, Transition
from tests.evals.lottery import played


def of(trajectory: Trajectory) -> EpisodeOutcome:
    return EpisodeOutcome.of(trajectory, said_success)


def ending(observation: dict[str, Any], **fields: Any) -> Trajectory:
    last = Transition(action={}, observation=observation, reward=0.3, terminated=True)
    return played(steps=[last], **fields)


def test_an_episode_is_summed_up() -> None:
    outcome = of(played([0.5, None, 0.25], seed=7))
    assert outcome == EpisodeOutcome(
        episode_id="ep-7",
        seed=7,
        reward=0.75,
        reason="terminated",
        success=None,
        steps=3,
        seconds=2.5,
        unscored=None,
    )


@pytest.mark.parametrize(
    ("observation", "success", "reason"),
    [
        ({"is_success": True}, True, "success"),
        ({"success": False}, False, "failure"),
        ({"status": "success"}, True, "success"),
        ({"status": "failed"}, False, "failure"),
        ({"termination_reason": "Failure"}, False, "failure"),
        ({"status": "ongoing"}, None, "terminated"),
        ({"success": 1}, None, "terminated"),
        ({}, None, "terminated"),
    ],
)
def test_the_environment_says_what_a_success_is_and_the_reward_does_not(
    observation: dict[str, Any], success: bool | None, reason: str
) -> None:
    outcome = of(ending(observation))
    assert (outcome.success, outcome.reason, outcome.reward) == (success, reason, 0.3)


def test_metadata_may_say_it() -> None:
    last = Transition(action={}, observation={}, metadata={"is_success": True}, terminated=True)
    assert of(played(steps=[last])).reason == "success"


@pytest.mark.parametrize("end", ["truncated", "limit"])
def test_episodes_that_a_limit_ended_are_told_apart(end: Any) -> None:
    assert of(played(end=end)).reason == end
    assert of(ending({"is_success": False}, end=end)).reason == end
    assert of(ending({"is_success": True}, end=end)).reason == "success"


def test_an_action_that_was_refused_is_told_from_an_environment_that_broke() -> None:
    refused = {"type": "InvalidRequest", "code": "VALIDATION_ERROR", "message": "no such move"}
    broke = {"type": "ExecutionFailed", "code": "EXECUTION_ERROR", "message": "boom"}
    assert of(played(end="error", error=refused)).reason == "invalid_action"
    assert of(played(end="error", error=refused, reset=None, steps=[])).reason == "error"
    outcome = of(played([1.0], end="error", error=broke))
    assert (outcome.reason, outcome.reward, outcome.success) == ("error", None, None)
    assert outcome.unscored == "EXECUTION_ERROR: boom"


def test_a_reward_that_failed_is_none_and_says_why() -> None:
    judged = Transition(action={}, observation={}, reward=1.0)
    unjudged = Transition(
        action={}, observation={}, metadata={"reward_error": {"message": "no judge"}}
    )
    outcome = of(played(steps=[judged, unjudged]))
    assert outcome.reward is None
    assert outcome.unscored == "the reward of step 2 could not be computed: no judge"
    assert not outcome.failed
    assert of(played([None, None])).unscored == "no reward was given in 2 steps"
    assert of(played([1e308, 1e308])).unscored == "the rewards add up to inf"


@pytest.mark.parametrize(
    ("rule", "success"),
    [
        ("result=win", True),
        ("result = WIN", True),
        ("result=lose", False),
        ("won=true", True),
        ("other=win", None),
        ("reward>=0.3", True),
        ("reward>=0.31", False),
    ],
)
def test_a_rule_says_what_a_success_is(rule: str, success: bool | None) -> None:
    trajectory = ending({"result": "win", "won": True, "is_success": False})
    assert success_rule(rule)(trajectory) is success


def test_a_rule_of_the_reward_says_nothing_of_an_episode_without() -> None:
    assert success_rule("reward>=0")(played([None])) is None


@pytest.mark.parametrize("text", ["", "win", "reward>=high", "reward>=nan", "reward>1", "=win"])
def test_a_rule_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="FIELD=VALUE"):
        success_rule(text)
