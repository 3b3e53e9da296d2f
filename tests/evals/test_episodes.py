"""Inspect plays episodes of served environments, scores them, and writes a log."""

import math
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed (the extra inspect)")

from inspect_ai import Task, task_with
from inspect_ai import eval as inspect_eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.event import ToolEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from inspect_ai.model import ChatMessage
from inspect_ai.scorer import includes
from inspect_ai.tool import mcp_server_http
from inspect_ai.util import Store

from blackjack_env import BlackJackAction, BlackJackEnv
from blackjack_env.server.blackjack_environment import BlackJackEnvironment
from openenv.client.results import StepResult
from openenv.evals.inspect_episode import Outcome
from openenv.evals.inspect_task import episodes
from openenv.protocol.errors import ConfigurationError
from tests.evals.worlds import Foreign, Move, Parrot, Sums, address, doing, player, saying
from tests.serving import serving

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # Inspect leaves things open, and is deprecated in parts


def evaluated(model: Any, url: str, log_dir: str = "logs", **options: Any) -> EvalLog:
    """The log of an evaluation, as it lies on the disk."""
    task = episodes(url, **options)
    (log,) = inspect_eval(task, model=model, log_dir=log_dir, display="none")
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


def seed_of(messages: list[ChatMessage]) -> int:
    """The seed of a parrot's episode, as its first observation tells it."""
    return int(messages[0].text.partition("seed ")[2].partition(",")[0])


def act(seen: str) -> dict[str, Any]:
    """A move of a player who stands on what he thinks is enough."""
    return {"move": "hit" if "you hard 1" in seen else "stand"}


def test_actions() -> None:
    def policy(messages: list[ChatMessage], tools: list[str]) -> Move:
        assert tools == ["act"]
        return "act", act(messages[-1].text)

    with serving(BlackJackEnvironment) as server:
        log = evaluated(player(policy), address(server), seeds=6)
        expected = []
        with BlackJackEnv(address(server)) as env:
            for seed in range(6):
                result = env.reset(seed=seed)
                while not result.done:
                    result = env.step(BlackJackAction(**act(result.observation.text)))
                expected.append(result.reward or 0.0)
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
    begun = [sample.messages[0].text.rpartition("seed ")[2] for sample in samples(log)]
    assert begun == ["3, [('level', 2)]\"}", "7, [('level', 2)]\"}"]


SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "summed": [{"word": "a"}, {"word": "b"}, {"word": "bye"}],
    "refused": [{"word": "refuse"}, {"word": "bye"}],
    "of another type": [{"word": 3}, {"word": "bye"}],
    "missing": [{}, {"word": "bye"}],
    "unjudged": [{"word": "a"}, {"word": "unjudged"}],
    "none given": [{"word": "nothing"}],
    "no step": [],
    "unfinished": [{"word": "a"}] * 5,
    "cut": [{"word": "cut"}],
}
"""What a model does in an episode, by the episode's name."""


@pytest.fixture(scope="module")
def medley(tmp_path_factory: pytest.TempPathFactory) -> dict[str, EvalSample]:
    """One evaluation with an episode of each script, by name; at most four turns each."""
    scripts = list(SCRIPTS.values())

    def policy(messages: list[ChatMessage], tools: list[str]) -> Move | str:
        turn, script = (
            sum(each.role == "assistant" for each in messages),
            scripts[seed_of(messages)],
        )
        return ("act", script[turn]) if turn < len(script) else "Done."

    place = str(tmp_path_factory.mktemp("medley"))
    log = played(Parrot, player(policy), log_dir=place, seeds=len(scripts), max_turns=4)
    assert log.results is not None
    assert metrics(log)["mean"] == pytest.approx((6 + 2 + 2 + 2 + 8 + 0.25) / 6)
    assert metrics(log)["accuracy"] == pytest.approx(7 / 9)
    assert log.results.scores[0].unscored_samples == 3
    return dict(zip(SCRIPTS, samples(log), strict=True))


def test_rewards_are_summed(medley: dict[str, EvalSample]) -> None:
    assert reward(medley["summed"]).value == 6.0
    assert reward(medley["summed"]).metadata == {"steps": 3, "rewards": [2.0, 2.0, 2.0]}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("refused", "say something else"),
        ("of another type", "3 is not of type"),
        ("missing", "word"),
    ],
)
def test_what_the_environment_does_not_accept_is_told_to_the_model(
    medley: dict[str, EvalSample], name: str, told: str
) -> None:
    events = [event for event in medley[name].events if isinstance(event, ToolEvent)]
    assert events[0].error is not None
    assert told in events[0].error.message
    assert reward(medley[name]).metadata == {"steps": 1, "rewards": [2.0]}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("unjudged", "the judge was not there"),
        ("none given", "no reward was given in 1 steps"),
        ("no step", "no reward was given in 0 steps"),
    ],
)
def test_an_episode_without_a_reward_has_no_score(
    medley: dict[str, EvalSample], name: str, why: str
) -> None:
    assert math.isnan(reward(medley[name]).value)
    assert reward(medley[name]).explanation == f"unscored: {why}"


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (StepResult({"metadata": {"reward_error": {"message": "no judge"}}}), "no judge"),
        (StepResult({}, metadata={"reward_error": "no judge"}), "no judge"),
        (StepResult({}, math.nan), "the environment's own reward is nan"),
    ],
)
def test_a_reward_that_could_not_be_computed_is_none_wherever_it_is_told(
    result: StepResult[Any], why: str
) -> None:
    outcome = Outcome(store=Store())
    outcome.add(StepResult({}, 1.0))
    outcome.add(result)
    outcome.add(StepResult({}, 2.0))
    assert outcome.rewards == [1.0, None, 2.0]
    assert outcome.reward_error == why


@pytest.mark.parametrize(
    ("name", "done", "truncated"),
    [("summed", True, False), ("unfinished", False, False), ("cut", True, True)],
)
def test_how_an_episode_ended(
    medley: dict[str, EvalSample], name: str, done: bool, truncated: bool
) -> None:
    scores = medley[name].scores
    assert scores is not None
    assert scores["episode_done"].value == done
    assert scores["episode_done"].metadata == {"truncated": truncated}


def test_no_turn_beyond_the_last(medley: dict[str, EvalSample]) -> None:
    assert reward(medley["unfinished"]).metadata["steps"] == 4


def test_two_calls_in_one_answer_are_taken_one_after_the_other() -> None:
    def policy(messages: list[ChatMessage], tools: list[str]) -> list[Move]:
        return [("add", {"a": 1}), ("guess", {"number": 0}), ("guess", {"number": 0})]

    (sample,) = samples(played(Sums, player(policy), seeds=1))
    results = [message for message in sample.messages if message.role == "tool"]
    assert [message.text for message in results[:2]] == ["3", '{"heard":"right"}']
    assert "the episode is over" in str(results[2].error)
    assert reward(sample).metadata["rewards"] == [None, 1.0]


def test_an_episode_that_is_over_at_its_beginning() -> None:
    (sample,) = samples(played(Parrot, saying("a"), seeds=1, options={"over": True}))
    assert [message.role for message in sample.messages] == ["user"]
    assert math.isnan(reward(sample).value)


def test_a_tool_that_fails_is_told_to_the_model() -> None:
    moves: list[Move] = [("fail", {}), ("nonsense", {}), ("guess", {"number": 0})]
    (sample,) = samples(played(Sums, doing(*moves), seeds=[0]))
    errors = [event.error for event in sample.events if isinstance(event, ToolEvent)]
    assert [error is None for error in errors] == [False, False, True]
    assert "no such luck" in str(errors[0])
    assert reward(sample).value == 1.0


def test_a_tool_that_says_itself_that_it_fails_is_told_to_the_model() -> None:
    moves: list[Move] = [("look", {}), ("look", {"away": True}), ("look", {})]
    (sample,) = samples(played(Foreign, doing(*moves), seeds=[0]))
    events = [event for event in sample.events if isinstance(event, ToolEvent)]
    assert [event.result for event in events if event.error is None] == ["a bird"] * 2
    assert [str(event.error and event.error.message) for event in events][1] == "a bird"


@pytest.mark.expects_error_log
def test_what_goes_wrong_with_the_session_is_an_error_of_the_sample() -> None:
    def policy(messages: list[ChatMessage], tools: list[str]) -> Move:
        if messages[-1].role == "user":
            return "act", {"word": "a"}
        return "act", {"word": ["raise", "exit", "bye"][seed_of(messages)]}

    with serving(Parrot, host_kind="process") as server:
        task = task_with(episodes(address(server), seeds=3), fail_on_error=False)
        (log,) = inspect_eval(task, model=player(policy), log_dir="logs", display="none")
    assert log.results is not None
    assert (log.results.total_samples, log.results.completed_samples) == (3, 1)
    raised, exited, played = samples(log)
    assert not raised.scores
    assert "the parrot is out of order" in str(raised.error)
    assert not exited.scores
    assert "broke off after 1 steps" in str(exited.error)
    assert reward(played).value == metrics(log)["mean"] == 4.0


def test_an_environment_without_tools_that_is_asked_for_them() -> None:
    log = played(Parrot, saying("bye"), seeds=[1], moves="tools")
    assert log.error is not None
    assert "no tools: give moves='actions'" in log.error.message


@pytest.mark.parametrize(
    "wrong",
    [{"moves": "legs"}, {"max_turns": 0}, {"seeds": 0}, {"seeds": []}, {"seeds": -1}],
    ids=str,
)
def test_what_is_no_evaluation_is_refused_before_it_begins(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        episodes(**wrong)


def test_more_samples_than_sessions() -> None:
    with serving(Parrot, max_concurrent_envs=1) as server:
        log = evaluated(saying("a", "bye"), address(server), seeds=5)
    assert log.status == "success"
    assert metrics(log)["mean"] == 4.0


def test_an_agent_of_inspects_own_has_the_tools_over_mcp() -> None:
    pytest.importorskip("mcp", reason="the SDK of MCP is not installed")
    with serving(Sums) as server:
        tools = mcp_server_http(url=f"{address(server)}/mcp", name="sums")
        task = Task(
            dataset=[Sample(input="1 + 41?", target="42")],
            solver=react(tools=[tools]),
            scorer=includes(),
        )
        model = doing(("add", {"a": 1, "b": 41}), ("submit", {"answer": "42"}))
        (log,) = inspect_eval(task, model=model, log_dir="logs", display="none")
        assert server.active() == 0
    assert log.samples is not None
    events = [event for event in log.samples[0].events if isinstance(event, ToolEvent)]
    assert (events[0].function, events[0].error) == ("add", None)
    assert "42" in str(events[0].result)
    assert metrics(log)["accuracy"] == 1.0
