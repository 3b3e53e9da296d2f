"""Unmodified MCP clients: the official SDK's and FastMCP's, over Streamable HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.server.mcp.rpc import SESSIONLESS
from tests.server.mcp.worlds import Shed
from tests.serving import Served, eventually, serving

mcp = pytest.importorskip("mcp")
fastmcp = pytest.importorskip("fastmcp")

NAMES = ["inc", "add", "fail", "win", "show", "big", "undocumented", "crawl", "wait", "nap"]


def address(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}/mcp"


@asynccontextmanager
async def client(served: Served, **options: Any) -> AsyncIterator[Any]:
    """The official SDK's client, as its documentation makes one."""
    async with mcp.Client(address(served), **options) as connected:
        yield connected


def text_of(answer: Any) -> str:
    text: str = answer.content[0].text
    return text


def leaves(error: BaseException) -> list[BaseException]:
    """What an error is made of: the SDK raises its own inside groups."""
    within = getattr(error, "exceptions", None)
    return [error] if within is None else [leaf for each in within for leaf in leaves(each)]


async def test_the_sdk_lists_and_calls(any_shed: Served) -> None:
    async with client(any_shed) as agent:
        assert agent.protocol_version == "2025-11-25"
        assert agent.server_info.name == "Shed"
        tools = (await agent.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        assert all(tool.description is not None for tool in tools)
        counts = [(await agent.call_tool("inc", {})).structured_content for _ in range(3)]
        assert counts == [{"result": 1}, {"result": 2}, {"result": 3}]
        failed = await agent.call_tool("fail", {})
        assert failed.is_error
        assert "the shed is on fire" in text_of(failed)
        with pytest.raises(mcp.MCPError, match="nope"):
            await agent.call_tool("nope", {})
        won = await agent.call_tool("win", {})
        assert won.meta["openenv"] == {"reward": 1.0, "done": True}
    assert any_shed.active() == 0


async def test_the_sdk_is_told_of_progress(any_shed: Served) -> None:
    reports: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with client(any_shed) as agent:
        answer = await agent.call_tool("crawl", {"steps": 3}, progress_callback=note)
    assert text_of(answer) == "arrived"
    assert reports == [(step, 3, f"step {step}") for step in (1, 2, 3)]


async def test_a_call_that_the_sdk_gives_up_is_cancelled(any_shed: Served) -> None:
    async with client(any_shed) as agent:
        with pytest.raises(mcp.MCPError, match=r"(?i)timed out"):
            await agent.call_tool("nap", {"seconds": 50}, read_timeout_seconds=0.5)
        assert text_of(await agent.call_tool("inc", {})) == "1"
    assert any_shed.active() == 0


async def test_calls_of_one_session_run_in_turn(shed: Served) -> None:
    async with client(shed) as agent:
        answers = await asyncio.gather(*(agent.call_tool("inc", {}) for _ in range(20)))
        assert sorted(int(text_of(answer)) for answer in answers) == list(range(1, 21))


async def test_sessions_run_beside_each_other(shed: Served) -> None:
    async def counted() -> list[str]:
        async with client(shed) as agent:
            return [text_of(await agent.call_tool("inc", {})) for _ in range(3)]

    assert await asyncio.gather(*(counted() for _ in range(8))) == [["1", "2", "3"]] * 8
    assert shed.active() == 0


async def test_the_sdk_without_sessions_has_stateless_answers(shed: Served) -> None:
    async with client(shed, mode=SESSIONLESS) as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == NAMES
        assert [text_of(await agent.call_tool("inc", {})) for _ in range(2)] == ["1", "1"]
        with pytest.raises(mcp.MCPError, match=r"(?i)timed out"):
            await agent.call_tool("nap", {"seconds": 50}, read_timeout_seconds=0.5)
        await asyncio.to_thread(eventually, lambda: shed.active() == 0)


async def test_the_sdk_of_old_shakes_hands(shed: Served) -> None:
    async with client(shed, mode="legacy") as agent:
        assert [text_of(await agent.call_tool("inc", {})) for _ in range(2)] == ["1", "2"]


async def test_fastmcp_lists_and_calls(any_shed: Served) -> None:
    async with fastmcp.Client(address(any_shed)) as agent:
        assert [tool.name for tool in await agent.list_tools()] == NAMES
        counts = [(await agent.call_tool("inc", {})).structured_content for _ in range(3)]
        assert counts == [{"result": 1}, {"result": 2}, {"result": 3}]
        with pytest.raises(fastmcp.exceptions.ToolError, match="the shed is on fire"):
            await agent.call_tool("fail", {})
    assert any_shed.active() == 0


async def test_a_session_that_has_expired_is_told() -> None:
    from openenv.runtime.limits import Limits

    with serving(Shed, host_kind="thread", limits=Limits(unattached_timeout=0.3)) as served:
        async with client(served) as agent:
            await asyncio.to_thread(eventually, lambda: served.active() == 0)
            with pytest.raises(mcp.MCPError, match="initialize"):
                await agent.call_tool("inc", {})


async def test_a_full_server_is_told() -> None:
    with serving(Shed, host_kind="thread", max_concurrent_envs=1) as served:
        async with client(served) as agent:
            with pytest.raises(BaseException) as caught:
                async with client(served):
                    pass
            [refusal] = leaves(caught.value)
            assert isinstance(refusal, mcp.MCPError)
            assert "capacity" in str(refusal)
            assert text_of(await agent.call_tool("inc", {})) == "1"
