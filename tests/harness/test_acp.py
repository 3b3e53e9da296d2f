"""Agents of the Agent Client Protocol: turns, tools, permissions, and all that goes wrong."""

import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from openenv import Observation
from openenv.env.tools import tool
from openenv.harness.agents.acp import ACPHarnessAdapter
from openenv.harness.agents.config import HarnessConfig
from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
from openenv.harness.agents.errors import HarnessStartupError
from tests.harness.worlds import MARK, nothing_is_left

pytest.importorskip("acp", reason="the SDK of the Agent Client Protocol is not installed")
pytest.importorskip("mcp", reason="the SDK of MCP is not installed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are seen by /proc")

AGENT = [sys.executable, str(Path(__file__).parent / "acp/agent.py")]
TURNS = [
    *(("stray", "I stray."), ("stray", "I stray.")),  # what is no message of the protocol's
    ("read", "I read. -32601"),  # it reads no files through us
    ("ask", "yes"),
]


class Sums(HarnessEnvironment):
    """A world with one tool."""

    @tool
    def add(self, a: int, b: int) -> Observation:
        """Adds."""
        return Observation(reward=1.0, metadata={"sum": a + b})


class Bare(HarnessEnvironment):
    """A world without tools."""


@asynccontextmanager
async def world(
    *flags: str, of: type[HarnessEnvironment] = Sums, permits: bool = True, **options: Any
) -> AsyncIterator[HarnessEnvironment]:
    """A world around the agent; nothing is left of it afterwards."""
    mark = uuid.uuid4().hex
    usual = {"command": [*AGENT, *flags], "working_directory": None, "env_vars": {MARK: mark}}
    config = HarnessConfig(name="toy", **(usual | options))
    around = of(ACPHarnessAdapter(config, terminate_grace_s=0.3, permits=permits))
    try:
        yield around
    finally:
        await around.close()
        nothing_is_left(mark)


async def turn(around: HarnessEnvironment, message: str) -> Observation:
    return await around.step_async(HarnessAction(message=message))


async def test_a_turn_with_a_call_of_a_tool() -> None:
    async with world() as around:
        await around.reset_async()
        told = await turn(around, "add 2 40")
        events = [each for each in told.metadata["turn_events"] if "origin" not in each["data"]]
        assert [each["type"] for each in events] == [
            *("llm_chunk", "llm_chunk", "tool_call", "tool_result"),
            *("llm_chunk", "llm_chunk", "turn_complete"),
        ]
        assert events[0]["data"] == {"content": "well", "thought": True}
        named = {"call_id": "c1", "tool_name": "add"}
        assert events[2]["data"] == {**named, "arguments": {"a": 2, "b": 40}}
        assert events[3]["data"]["failed"] is False
        assert events[-1]["data"]["stop_reason"] == "end_turn"
        assert told.metadata["response"].startswith("It is ")
        assert told.reward == 1.0
        assert told.done is False


async def test_turns_in_one_session() -> None:
    async with world() as around:
        await around.reset_async()
        for number, (order, answer) in enumerate(TURNS, 1):
            told = await turn(around, order)
            assert told.metadata["response"] == answer
            assert told.metadata["turn_number"] == number


async def test_an_agent_that_is_permitted_nothing() -> None:
    async with world(permits=False) as around:
        await around.reset_async()
        told = await turn(around, "ask")
        assert told.metadata["response"] == "no"
        (call, result) = [each["data"] for each in told.metadata["turn_events"][2:4]]
        assert call == {"call_id": "c2", "tool_name": "rm", "arguments": {"path": "x"}}
        assert result["failed"] is True


async def test_a_turn_that_the_agent_refuses() -> None:
    async with world() as around:
        await around.reset_async()
        told = await turn(around, "refuse")
        assert told.done
        assert told.reward is None
        assert told.metadata["error_type"] == "harness_crashed"
        assert "toy refused session/prompt: no credit left" in told.metadata["error"]
        assert '"plan": "free"' in told.metadata["error"]


async def test_an_agent_that_dies_in_a_turn() -> None:
    async with world() as around:
        await around.reset_async()
        told = await turn(around, "die")
        assert told.metadata["error_type"] == "harness_crashed"
        assert "ended with exit code 7" in told.metadata["error"]
        assert "my last words" in told.metadata["stderr"]
        assert told.metadata["turn_events"][-1]["data"] == {"content": "I die."}


async def test_a_turn_that_never_ends() -> None:
    async with world(session_timeout_s=1.0) as around:
        await around.reset_async()
        told = await turn(around, "hang")
        assert told.metadata["error_type"] == "turn_timeout"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--old",), "it speaks version 0 of the Agent Client Protocol, not 1"),
        (("--no-http",), "it takes no tools over HTTP"),
    ],
)
async def test_an_agent_that_does_not_suit(flags: tuple[str, ...], why: str) -> None:
    async with world(*flags) as around:
        with pytest.raises(HarnessStartupError, match=why):
            await around.reset_async()


async def test_an_agent_without_http_suits_where_there_are_no_tools() -> None:
    async with world("--no-http", of=Bare) as around:
        await around.reset_async()
        assert (await turn(around, "stray")).metadata["response"] == "I stray."


async def test_an_agent_that_does_not_answer() -> None:
    async with world("--silent", startup_timeout_s=1.0) as around:
        with pytest.raises(HarnessStartupError, match="toy opened no session within 1 s"):
            await around.reset_async()


async def test_a_program_that_is_no_agent() -> None:
    async with world(command=["true"]) as around:
        with pytest.raises(HarnessStartupError, match="exit code 0"):
            await around.reset_async()


async def test_a_program_that_is_not_there() -> None:
    async with world(command=["no-such-agent"]) as around:
        with pytest.raises(HarnessStartupError):
            await around.reset_async()
