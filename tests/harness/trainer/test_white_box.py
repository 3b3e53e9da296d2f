"""The white-box loop over real servers: what ends it, what the model is told, what is kept."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openenv.harness import (
    HarnessRunLimits,
    MCPHarnessAdapter,
    ModelStepResult,
    RolloutFailed,
    ToolResult,
)
from openenv.llm.responses import LLMResponse, ToolCall
from openenv.protocol.errors import ConfigurationError, ProtocolError, SessionLost
from tests.harness.trainer.worlds import (
    BREAKS,
    Calling,
    Script,
    Stepping,
    answers,
    guesses,
    stepping,
    taking,
    turn,
)
from tests.serving import Served

ADAPTER = MCPHarnessAdapter()
MISS = ("guess", {"n": 9})


@pytest.fixture(params=[Stepping, Calling], ids=["steps", "tools"])
def factory(request: pytest.FixtureRequest, url: str) -> Any:
    return request.param(url)


def test_an_episode_ends_when_a_result_is_done(factory: Any) -> None:
    session = factory.create("find it", seed=3)
    model = guesses(5, 1, 3, 7)
    rollout = ADAPTER.run_white_box(model, session)
    assert rollout.done
    counted = {"turns": 3, "tool_calls": 3, "tool_errors": 0}
    assert rollout.metrics == {**counted, "truncated": False, "stopped_by": "environment"}
    assert [call.arguments["n"] for call in rollout.tool_trace] == [5, 1, 3]
    assert [call.result.metadata["reward"] for call in rollout.tool_trace] == [0.0, 0.0, 1.0]
    assert [message["role"] for message in rollout.messages] == ["user", *["assistant", "tool"] * 3]
    assert [event.type for event in rollout.events] == ["model_response", "tool_call"] * 3
    verdict = session.verify(rollout.messages)
    assert (verdict.env_reward, verdict.done) == (1.0, True)
    session.close()


def test_an_episode_ends_when_the_model_calls_nothing(url: str) -> None:
    session = Stepping(url).create("find it", seed=3)
    rollout = ADAPTER.run_white_box(guesses(5), session)
    assert (rollout.done, rollout.metrics["turns"], rollout.metrics["truncated"]) == (
        True,
        2,
        False,
    )
    assert session.verify(rollout.messages).done is False
    session.close()


def test_a_model_is_told_the_conversation_the_tools_and_the_sampling(url: str) -> None:
    session = Stepping(url).create("find it", seed=3)
    model = guesses(5, 3)
    ADAPTER.run_white_box(model, session, HarnessRunLimits(sampling={"temperature": 0.5}))
    messages, tools, sampling = model.asked[1]
    assert messages[0] == {"role": "user", "content": "find it: guess"}
    assert messages[1]["tool_calls"][0]["function"] == {"name": "guess", "arguments": '{"n": 5}'}
    assert (messages[2]["tool_call_id"], messages[2]["name"]) == ("call-0", "guess")
    assert json.loads(messages[2]["content"])["observation"]["hint"] == "lower"
    assert ([tool.name for tool in tools], sampling) == (["guess"], {"temperature": 0.5})
    session.close()


def test_turns_are_limited(url: str) -> None:
    session = stepping(url, seed=3)
    rollout = ADAPTER.run_white_box(guesses(5, 6, 7), session, HarnessRunLimits(max_turns=2))
    assert (rollout.done, rollout.metrics["truncated"], len(rollout.tool_trace)) == (False, True, 2)
    none = ADAPTER.run_white_box(guesses(3), session, HarnessRunLimits(max_turns=0))
    assert (none.done, none.metrics["truncated"], len(none.messages)) == (False, True, 1)
    session.close()


def test_calls_of_a_turn_are_limited_and_each_is_answered(url: str) -> None:
    session = stepping(url, seed=3)
    limits = HarnessRunLimits(max_turns=2, max_tool_calls_per_turn=2)
    rollout = ADAPTER.run_white_box(Script([MISS] * 3, [MISS]), session, limits)
    assert (len(rollout.tool_trace), rollout.metrics["tool_calls"]) == (3, 3)
    assert "one turn may have 2 calls" in answers(rollout.messages)[2]["error"]
    assert [event.type for event in rollout.events].count("tool_call_refused") == 1
    session.close()


def test_calls_in_all_are_limited(url: str) -> None:
    session = stepping(url, seed=3)
    limits = HarnessRunLimits(max_total_tool_calls=3)
    rollout = ADAPTER.run_white_box(Script([MISS] * 2, [MISS] * 3, [MISS]), session, limits)
    assert (rollout.done, rollout.metrics["turns"], len(rollout.tool_trace)) == (False, 2, 3)
    assert rollout.metrics["truncated"]
    assert len(answers(rollout.messages)) == 5
    session.close()


def test_calls_after_the_end_are_not_made(url: str) -> None:
    session = stepping(url, seed=3)
    rollout = ADAPTER.run_white_box(Script([("guess", {"n": 3}), MISS]), session)
    assert (rollout.done, len(rollout.tool_trace)) == (True, 1)
    assert "has ended" in answers(rollout.messages)[1]["error"]
    session.close()


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
@pytest.mark.parametrize("name", ["max_turns", "max_tool_calls_per_turn", "max_total_tool_calls"])
def test_a_limit_that_is_none_is_refused(name: str, limit: Any) -> None:
    with pytest.raises(ConfigurationError, match=name):
        HarnessRunLimits(**{name: limit})


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("nope", {}, "unknown tool 'nope'"),
        ("guess", {}, "n"),
        ("guess", {"n": "many"}, "valid integer"),
        ("guess", ["n"], "must be a JSON object"),
        ("guess", None, "must be a JSON object"),
        ("guess", {"n": BREAKS}, "a step that breaks"),
        *[
            (reserved, {}, "controls the episode")
            for reserved in ("reset", "step", "state", "close")
        ],
    ],
    ids=lambda value: str(value)[:20],
)
@pytest.mark.expects_error_log
def test_what_is_wrong_with_a_call_is_its_answer(
    factory: Any, name: str, arguments: Any, words: str
) -> None:
    session = factory.create("find it", seed=3)
    rollout = ADAPTER.run_white_box(Script([(name, arguments)], [("guess", {"n": 3})]), session)
    assert words in answers(rollout.messages)[0]["error"]
    assert rollout.tool_trace[0].result.error is not None
    assert (rollout.done, rollout.metrics["tool_errors"]) == (True, 1)
    assert session.verify(rollout.messages).env_reward == 1.0
    session.close()


def test_arguments_that_are_no_json_never_reach_the_session(url: str) -> None:
    session = stepping(url, seed=3)
    fault = ToolCall.written("c", "guess", '{"n": 3')
    written = ModelStepResult(LLMResponse("", [fault]))
    rollout = ADAPTER.run_white_box(taking(lambda: written, turn), session)
    assert "not JSON" in answers(rollout.messages)[0]["error"]
    assert rollout.tool_trace[0].result.error == fault.fault
    assert session.verify(rollout.messages).env_reward is None
    session.close()


def test_a_tool_that_breaks_is_the_models_to_read(url: str) -> None:
    session = Calling(url).create("find it", seed=3)
    rollout = ADAPTER.run_white_box(Script([("fail", {})], [("twice", {"n": 4})]), session)
    first, second = answers(rollout.messages)
    assert ("a tool that breaks" in first["error"], second) == (True, 8)
    session.close()


def explode() -> ModelStepResult:
    raise ValueError("the model broke")


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        (explode, ValueError),
        (lambda: None, ProtocolError),
        (lambda: "hello", ProtocolError),
        (lambda: LLMResponse("hello"), ProtocolError),
        (lambda: ModelStepResult(response={"content": "hello"}), ProtocolError),  # type: ignore[arg-type]
        (lambda: ModelStepResult(LLMResponse(""), [1], [2, 3], [-0.5]), ProtocolError),
    ],
    ids=["raises", "none", "text", "a response", "a dict", "a probability short"],
)
def test_a_models_step_that_fails_keeps_what_was_played(
    url: str, step: Callable[[], Any], cause: type[Exception]
) -> None:
    session = stepping(url, seed=3)
    with pytest.raises(RolloutFailed, match="turn 1") as failed:
        ADAPTER.run_white_box(taking(lambda: turn(MISS), step), session)
    assert isinstance(failed.value.__cause__, cause)
    assert len(failed.value.rollout.tool_trace) == 1
    assert failed.value.rollout.metrics["turns"] == 1
    session.close()


def test_a_session_that_is_gone_fails_the_rollout(url: str, game: Served) -> None:
    session = stepping(url, seed=3)
    session.call_tool("guess", {"n": 1})
    session.close()
    assert game.active() == 0
    with pytest.raises(RolloutFailed) as failed:
        ADAPTER.run_white_box(guesses(3), session)
    assert isinstance(failed.value.__cause__, SessionLost)


def test_a_session_that_returns_no_result_fails_the_rollout(url: str) -> None:
    session = stepping(url, seed=3, tool_result_builder=lambda *given: {"hint": "a dict"})
    with pytest.raises(RolloutFailed, match="ToolResult") as failed:
        ADAPTER.run_white_box(guesses(3), session)
    assert isinstance(failed.value.__cause__, ProtocolError)
    session.close()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("plain words", "plain words"),
        (None, "null"),
        ({"n": float("nan")}, '{"n":"NaN"}'),
        (b"\x00\xff", '"AP8="'),
        ({"set": {1}}, '{"set":[1]}'),
    ],
    ids=["text", "nothing", "nan", "bytes", "set"],
)
def test_what_the_model_reads_of_a_result(url: str, data: Any, text: str) -> None:
    session = stepping(url, seed=3, tool_result_builder=lambda *given: ToolResult(data=data))
    rollout = ADAPTER.run_white_box(guesses(1), session)
    assert rollout.messages[2]["content"] == text
    session.close()


@pytest.mark.parametrize("messages", [None, "hello", [1], {"role": "user"}])
def test_a_conversation_is_a_list_of_messages(url: str, messages: Any) -> None:
    session = stepping(url, initial_messages_builder=lambda first, task: messages)
    session.initial_messages = lambda: messages  # type: ignore[method-assign]
    with pytest.raises(RolloutFailed, match="list of dicts"):
        ADAPTER.run_white_box(guesses(3), session)
    session.close()


def test_tokens_may_come_as_arrays(url: str) -> None:
    session = stepping(url, seed=3)
    made = turn(("guess", {"n": 3}))
    made.prompt_ids, made.completion_ids = np.array([1, 2]), np.array([3])  # type: ignore[assignment]
    made.logprobs = np.array([-0.5])  # type: ignore[assignment]
    rollout = ADAPTER.run_white_box(taking(lambda: made), session)
    assert (rollout.prompt_ids, rollout.completion_ids) == ([1, 2], [3])
    assert (rollout.logprobs, rollout.turns[0].prompt_ids) == ([-0.5], [1, 2])
    made.prompt_ids = np.array([[1, 2]])  # type: ignore[assignment]
    with pytest.raises(RolloutFailed, match="of a batch, give one row"):
        ADAPTER.run_white_box(taking(lambda: made), session)
    session.close()


def test_there_is_no_black_box_loop(url: str) -> None:
    session = stepping(url)
    with pytest.raises(NotImplementedError, match="run_white_box"):
        ADAPTER.run_black_box(session)
    session.close()
