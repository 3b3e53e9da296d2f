"""A session's tools by JSON-RPC in the same process, and the agents that use them."""

import subprocess
import sys
from typing import Any

import pytest

from openenv.harness import (
    CLIHarnessAdapter,
    HarnessRolloutResult,
    HarnessRunLimits,
    ResourceSession,
    RolloutFailed,
    SessionMCPBridge,
)
from openenv.protocol.errors import Json
from tests.harness.trainer.worlds import Calling, guesses, stepping
from tests.serving import Served


def asked(bridge: SessionMCPBridge, method: str, **params: Any) -> Json:
    request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    answer = bridge.handle_request(request)
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    return answer


def guess(bridge: SessionMCPBridge, n: int) -> Json:
    return asked(bridge, "tools/call", name="guess", arguments={"n": n})


def test_tools_are_listed_and_called(url: str) -> None:
    session = Calling(url).create("find it", seed=3)
    bridge = SessionMCPBridge(session)
    tools = asked(bridge, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["twice", "fail", "guess"]
    assert tools[0].keys() == {"name", "description", "inputSchema"}
    assert guess(bridge, 3)["result"] == {
        "data": {"hint": "found"},
        "done": True,
        "metadata": {"reward": 1.0},
        "error": None,
    }
    assert bridge.rollout.done
    assert "has ended" in guess(bridge, 3)["error"]["message"]
    session.close()


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"method": "tools/call", "params": {"name": "nope"}}, -32601),
        ({"method": "tools/call", "params": {"name": "reset"}}, -32602),
        ({"method": "tools/call", "params": {"name": "guess", "arguments": [1]}}, -32602),
        ({"method": "tools/call", "params": {}}, -32602),
        ({"method": "tools/call", "params": {"name": "guess", "arguments": {"n": 98}}}, -32603),
        ({"method": "initialize"}, -32601),
        ({"method": 3}, -32600),
        ({"method": "tools/list", "jsonrpc": "1.0"}, -32600),
        ({}, -32600),
    ],
    ids=lambda value: str(value)[:60],
)
@pytest.mark.expects_error_log
def test_what_is_wrong_is_an_error(url: str, request_: Json, code: int) -> None:
    session = stepping(url)
    answer = SessionMCPBridge(session).handle_request({"jsonrpc": "2.0", "id": 1, **request_})
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert "result" not in answer
    session.close()


def test_an_agent_plays_a_session(url: str) -> None:
    def run(
        bridge: SessionMCPBridge, session: ResourceSession, limits: HarnessRunLimits
    ) -> HarnessRolloutResult:
        for number in range(4):
            guess(bridge, number)
        return HarnessRolloutResult(metrics={"exit_code": 0})

    session = stepping(url, seed=3)
    rollout = CLIHarnessAdapter(run).run_black_box(session)
    assert (rollout.done, len(rollout.tool_trace)) == (True, 4)
    assert rollout.metrics == {"tool_calls": 4, "exit_code": 0}
    assert session.verify(rollout.messages).env_reward == 1.0
    session.close()


def test_an_agents_calls_are_limited(url: str) -> None:
    def run(bridge: SessionMCPBridge, *given: Any) -> HarnessRolloutResult:
        for number in range(4):
            guess(bridge, number)
        assert "may have 2 calls" in guess(bridge, 3)["error"]["message"]
        return HarnessRolloutResult()

    session = stepping(url, seed=3)
    limits = HarnessRunLimits(max_total_tool_calls=2)
    rollout = CLIHarnessAdapter(run).run_black_box(session, limits)
    assert (rollout.done, len(rollout.tool_trace)) == (False, 2)
    assert rollout.metrics["truncated"]
    session.close()


def test_an_agent_that_dies_leaves_its_trace(url: str, game: Served) -> None:
    def run(bridge: SessionMCPBridge, *given: Any) -> HarnessRolloutResult:
        guess(bridge, 1)
        subprocess.run([sys.executable, "-c", "raise SystemExit(3)"], check=True, timeout=50)
        return HarnessRolloutResult()

    session = stepping(url, seed=3)
    with pytest.raises(RolloutFailed, match="after 1 calls of tools") as failed:
        CLIHarnessAdapter(run).run_black_box(session)
    assert [call.arguments for call in failed.value.rollout.tool_trace] == [{"n": 1}]
    assert isinstance(failed.value.__cause__, subprocess.CalledProcessError)
    assert session.verify([]).env_reward == 0.0
    session.close()
    assert game.active() == 0


def test_a_runner_must_say_how_it_went(url: str) -> None:
    session = stepping(url)
    nothing: Any = lambda *given: None  # noqa: E731
    with pytest.raises(RolloutFailed, match="HarnessRolloutResult"):
        CLIHarnessAdapter(nothing).run_black_box(session)
    with pytest.raises(NotImplementedError, match="run_black_box"):
        CLIHarnessAdapter(nothing).run_white_box(guesses(), session)
    session.close()
