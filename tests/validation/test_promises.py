"""Each promise of an environment: what is sound passes, what breaks one is told which, and how."""

import re
from typing import Any

import pytest
from pydantic import Field

from openenv import Action, Environment, Observation, State, StepResult
from openenv.gym.served_env import served
from openenv.protocol.errors import ConfigurationError
from openenv.testing import check_environment
from openenv.testing.trajectory import Turn, difference
from tests.validation import broken
from tests.validation.broken import Push, Sound


def broken_by(env: Any, **options: Any) -> list[str]:
    """The promises that an environment breaks."""
    try:
        check_environment(env, **options)
    except AssertionError as error:
        return re.findall(r"^- (\w+): ", str(error), re.MULTILINE)
    return []


@pytest.mark.parametrize(
    ("env", "promises"),
    [
        (broken.RaisesAlways, ["episode"]),
        (broken.RaisesSometimes, ["episode"]),
        (broken.ResetRaises, ["episode"]),
        (broken.RewardIsNaN, ["reward_well_formed"]),
        (broken.RewardIsMissing, ["reward_well_formed"]),
        (broken.RewardIsTruth, ["reward_well_formed"]),
        (broken.RewardIsLarge, ["reward_well_formed"]),
        (broken.ObservesWhatItDoesNotDeclare, ["observation_schema", "round_trip"]),
        (broken.ForgetsTheEpisode, ["state_contract"]),
        (broken.CountsNoSteps, ["state_contract"]),
        (broken.BeginsAnewByItself, ["episode_end"]),
        (broken.GoesOnAfterTheEnd, ["episode_end"]),
        (broken.NeverRecovers, ["call_order"]),
        (broken.TakesAnything, ["invalid_action"]),
        (broken.IgnoresTheSeed, ["seed_control", "episode_determinism"]),
        (broken.RemembersTheLastEpisode, ["seed_control"]),
        (broken.HasAName, ["episode_determinism"]),
        (broken.SharesItsLevel, ["episode_isolation"]),
        (broken.ClosesOnce, ["close_twice"]),
    ],
)
def test_a_broken_promise_is_named(env: type[Any], promises: list[str]) -> None:
    assert broken_by(env, reward_range=(0, 1)) == promises


@pytest.mark.parametrize(
    ("env", "told"),
    [
        (broken.Misspells, "no step was answered; step 1 {'by': 1}: 'Push' object has no attri"),
        (broken.ReturnsNothing, "ReturnsNothing.step must give an Observation, got NoneType"),
        (broken.ExitsSometimes, "the environment called sys.exit(2)"),
        (broken.SendsAnObjectSometimes, "a value of type object has no wire form; use"),
        (broken.TakesNothing, "none of the actions that were made up"),
    ],
)
def test_steps_that_fail_whatever_the_action_break_a_promise(env: type[Any], told: str) -> None:
    with pytest.raises(AssertionError, match="breaks a promise:\n- episode: ") as failure:
        check_environment(env)
    assert told in str(failure.value)
    assert "validation/runtime.json" in str(failure.value)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_state_of_another_kind_breaks_its_contract() -> None:
    assert broken_by(broken.StateOfAnotherKind) == ["state_contract"]


def test_sound_environments_keep_their_promises() -> None:
    from blackjack_env.server.blackjack_environment import BlackJackEnvironment
    from echo_env.server.echo_environment import EchoEnvironment

    check_environment(Sound, reward_range=(0, 1))
    check_environment(broken.OwnState)
    check_environment(broken.HasNoStateAtFirst)
    check_environment(BlackJackEnvironment, reward_range=(-1, 1))
    check_environment(EchoEnvironment)
    check_environment(served("CartPole-v1"))
    check_environment(Sound())


def test_all_that_is_wrong_is_told_at_once_with_the_way_out() -> None:
    class Hopeless(broken.RewardIsNaN, broken.HasAName, broken.ClosesOnce):
        def __init__(self) -> None:
            super().__init__()
            self.held = []

    with pytest.raises(AssertionError) as failure:
        check_environment(Hopeless)
    text = str(failure.value)
    assert text.startswith("Hopeless breaks 3 promises:\n- reward_well_formed: Every step's reward")
    assert "step 1 {'by': 1}: its reward is nan" in text
    assert text.count("    → ") == 3


class Awaiting(Environment[Push, broken.Seen, State]):
    async def reset_async(self, seed: int | None = None, episode_id: str | None = None) -> Any:
        self.sound = Sound()
        return self.sound.reset(seed, episode_id)

    async def step_async(self, action: Push) -> Any:
        return self.sound.step(action)

    async def close(self) -> None:  # type: ignore[override]
        """Awaited, and nothing else."""


def test_environments_that_await_are_played_too() -> None:
    check_environment(Awaiting)


async def test_it_works_beside_a_running_event_loop() -> None:
    check_environment(Sound)
    check_environment(Awaiting)


def test_given_actions_are_what_is_done() -> None:
    check_environment(broken.RaisesSometimes, actions=[Push(by=1), {"by": 2}])
    with pytest.raises(AssertionError, match="not as hard as that"):
        check_environment(broken.RaisesSometimes, actions=[Push(by=3)])


class Riddle(Action):
    answer: str = Field(pattern="^x$")


class Riddles(Environment[Riddle, Observation, State]):
    def reset(self, **_options: Any) -> Observation:
        return Observation()

    def step(self, action: Riddle) -> Observation:
        return Observation(reward=0.0)


def test_where_no_action_can_be_made_up_some_are_asked_for() -> None:
    with pytest.raises(AssertionError, match="no action can be made up, give some as actions="):
        check_environment(Riddles)
    check_environment(Riddles, actions=[Riddle(answer="x")])


def test_rewards_may_differ_by_what_is_tolerated() -> None:
    def turn(reward: float, level: int = 1) -> Turn:
        return Turn({"by": 1}, 1, StepResult({"level": level}, reward))

    assert difference([turn(0.5)], [turn(0.6)]) == "step 1 {'by': 1}: reward was 0.5, then 0.6"
    assert difference([turn(0.5)], [turn(0.6)], 0.2) is None
    assert difference([turn(0.5)], [turn(0.6, level=2)], 0.2) is not None
    assert difference([turn(0.5)], [turn(0.6), turn(0.6)], 0.2) is not None


def test_what_makes_no_environments_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        check_environment(7)  # type: ignore[arg-type]
