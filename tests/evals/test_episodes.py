"""Inspect plays episodes of served environments, scores them, and writes a log."""

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed (the extra inspect)")

from inspect_ai import eval as inspect_eval
from inspect_ai.event import ToolEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessage

from blackjack_env import BlackJackAction, BlackJackEnv
from blackjack_env.server.blackjack_environment import BlackJackEnvironment
from openenv.evals.inspect_task import episodes
from tests.evals.worlds import Move, Parrot, Sums, address, doing, player, saying
from tests.serving import serving

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # Inspect leaves things open, and is deprecated in parts


def evaluated(model: Any, url: str, **options: Any) -> EvalLog:
    """The log of an evaluation, as it lies on the disk."""
    task = episodes(url, **options)
    (log,) = inspect_eval(task, model=model, log_dir="logs", display="none")
    assert Path(log.location).suffix == ".eval"
    return read_eval_log(log.location)


def played(environment: Any, model: Any, **options: Any) -> EvalLog:
    """The same, on a server that has no session left afterwards."""
    with serving(environment) as server:
        log = evaluated(model, address(server), **options)
        assert server.active() == 0
    return log


def samples(log: EvalLog) -> list[EvalSample]:
    assert log.samples is not None
    return sorted(log.samples, key=lambda sample: int(sample.id))


def metrics(log: EvalLog) -> dict[str, float]:
    assert log.results is not None, log.error
    return {
        name: each.value for score in log.results.scores for name, each in score.metrics.items()
    }


def reward(sample: EvalSample) -> Any:
    assert sample.scores is not None, sample.error
    return sample.scores["episode_reward"]


def test_actions() -> None:
    def policy(messages: list[ChatMessage], tools: list[str]) -> Move:
        assert tools == ["act"]
        return "act", {"move": "hit" if "you hard 1" in messages[-1].text else "stand"}

    with serving(BlackJackEnvironment) as server:
        log = evaluated(player(policy), address(server), seeds=6)
        expected = []
        with BlackJackEnv(address(server)) as env:
            for seed in range(6):
                result = env.reset(seed=seed)
                while not result.done:
                    move = "hit" if "you hard 1" in result.observation.text else "stand"
                    result = env.step(BlackJackAction(move=move))
                expected.append(result.reward)
    assert log.status == "success"
    assert [reward(sample).value for sample in samples(log)] == expected
    assert metrics(log)["mean"] == pytest.approx(sum(expected) / 6)
    assert metrics(log)["accuracy"] == 1.0
    begun = samples(log)[0].messages[0].text
    assert begun.endswith("act")
    assert "calling tools" in begun


def test_tools() -> None:
    log = played(Sums, doing(("add", {"a": 1}), ("guess", {"number": 1})), seeds=3)
    assert [reward(sample).value for sample in samples(log)] == [0.0, 1.0, 0.0]
    events = [event for event in samples(log)[1].events if isinstance(event, ToolEvent)]
    assert [(event.function, event.arguments, event.result) for event in events] == [
        ("add", {"a": 1}, "3"),
        ("guess", {"number": 1}, '{"heard":"right"}'),
    ]
    assert samples(log)[1].store["Outcome:rewards"] == [None, 1.0]


@pytest.mark.parametrize(
    ("moves", "offered"), [("auto", {"add", "guess", "fail"}), ("actions", {"act"})]
)
def test_how_an_agent_moves(moves: Any, offered: set[str]) -> None:
    seen: list[set[str]] = []

    def policy(messages: list[ChatMessage], tools: list[str]) -> str:
        seen.append(set(tools))
        return "no"

    played(Sums, player(policy), seeds=1, moves=moves)
    assert seen == [offered]


def test_seeds_and_options() -> None:
    log = played(Parrot, saying("bye"), seeds=[7, 3], options={"level": 2})
    assert [reward(sample).value for sample in samples(log)] == [3.0, 7.0]
    assert "seed 7, [('level', 2)]" in samples(log)[1].messages[0].text


def test_rewards_are_summed() -> None:
    log = played(Parrot, saying("a", "b", "bye"), seeds=[2])
    assert reward(samples(log)[0]).value == 6.0
    assert reward(samples(log)[0]).metadata == {"steps": 3, "rewards": [2.0, 2.0, 2.0]}


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (saying("refuse", "bye"), "say something else"),
        (doing(("act", {"word": 3}), ("act", {"word": "bye"})), "3 is not of type"),
        (doing(("act", {}), ("act", {"word": "bye"})), "word"),
    ],
    ids=["refused", "of another type", "missing"],
)
def test_what_the_environment_does_not_accept_is_told_to_the_model(model: Any, told: str) -> None:
    (sample,) = samples(played(Parrot, model, seeds=[1]))
    assert told in sample.messages[2].text or told in str(getattr(sample.messages[2], "error", ""))
    assert reward(sample).value == 1.0
    assert reward(sample).metadata["steps"] == 1


def test_a_tool_that_fails_is_told_to_the_model() -> None:
    moves = ("fail", {}), ("nonsense", {}), ("guess", {"number": 0})
    (sample,) = samples(played(Sums, doing(*moves), seeds=[0]))
    errors = [event.error for event in sample.events if isinstance(event, ToolEvent)]
    assert [error is None for error in errors] == [False, False, True]
    assert "no such luck" in str(errors[0])
    assert reward(sample).value == 1.0


def test_no_move_after_the_end() -> None:
    def policy(messages: list[ChatMessage], tools: list[str]) -> Move:
        return "act", {"word": "bye"}

    (sample,) = samples(played(Parrot, player(policy), seeds=[1]))
    assert reward(sample).metadata["steps"] == 1


def test_a_reward_that_could_not_be_computed_is_no_zero() -> None:
    def policy(messages: list[ChatMessage], tools: list[str]) -> Move:
        return "act", {"word": "unjudged" if "seed 1," in messages[0].text else "bye"}

    log = played(Parrot, player(policy), seeds=[1, 4, 6])
    unjudged, four, six = samples(log)
    assert math.isnan(reward(unjudged).value)
    assert reward(unjudged).explanation == "unscored: the judge was not there"
    assert [reward(four).value, reward(six).value] == [4.0, 6.0]
    assert metrics(log)["mean"] == 5.0
    assert log.results is not None
    assert log.results.scores[0].unscored_samples == 1


@pytest.mark.parametrize(
    ("model", "steps"), [(saying("nothing"), 1), (saying(), 0)], ids=["none given", "no step"]
)
def test_an_episode_without_a_reward_has_no_score(model: Any, steps: int) -> None:
    (sample,) = samples(played(Parrot, model, seeds=[1]))
    assert math.isnan(reward(sample).value)
    assert reward(sample).explanation == f"unscored: no reward was given in {steps} steps"


def test_an_episode_that_is_not_played_to_its_end() -> None:
    log = played(Parrot, saying("a", "b", "c", "d"), seeds=[1], max_turns=3)
    assert reward(samples(log)[0]).value == 3.0
    assert metrics(log)["accuracy"] == 0.0


def test_an_episode_that_a_limit_ended() -> None:
    (sample,) = samples(played(Parrot, saying("cut"), seeds=[1]))
    assert sample.scores is not None
    assert sample.scores["episode_done"].metadata == {"truncated": True}


@pytest.mark.parametrize(
    ("word", "why"),
    [("raise", "the parrot is out of order"), ("exit", "broke off after 1 steps")],
)
@pytest.mark.expects_error_log
def test_what_goes_wrong_with_the_session_is_an_error_of_the_sample(word: str, why: str) -> None:
    with serving(Parrot, host_kind="process") as server:
        log = evaluated(saying("a", word), address(server), seeds=[1])
    (sample,) = samples(log)
    assert log.status == "error"
    assert sample.error is not None
    assert why in sample.error.message
    assert not sample.scores


def test_an_environment_without_tools_that_is_asked_for_them() -> None:
    log = played(Parrot, saying("bye"), seeds=[1], moves="tools")
    assert log.error is not None
    assert "give moves='actions'" in log.error.message


def test_more_samples_than_sessions() -> None:
    with serving(Parrot, max_concurrent_envs=1) as server:
        log = evaluated(saying("a", "bye"), address(server), seeds=5)
    assert log.status == "success"
    assert metrics(log)["mean"] == 4.0
