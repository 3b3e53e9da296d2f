"""Blocking calls of an environment of tools that never return: there are a few at most."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from openenv.env.own_threads import MOST_FORSAKEN, OwnThreads
from openenv.env.tools import ToolFailure
from tests.serving import eventually

named: ContextVar[str] = ContextVar("named")


async def given_up(threads: OwnThreads, release: threading.Event) -> None:
    entered = threading.Event()

    def hang() -> None:
        entered.set()
        release.wait(30)

    waiting = asyncio.ensure_future(threads(hang))
    await asyncio.to_thread(entered.wait, 30)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()


async def test_calls_are_refused_while_too_many_hang() -> None:
    threads, release = OwnThreads(), threading.Event()
    for _ in range(MOST_FORSAKEN):
        assert await threads(lambda: 1) == 1
        await given_up(threads, release)
    with pytest.raises(ToolFailure, match=f"{MOST_FORSAKEN} calls .* still run"):
        await threads(lambda: 1)
    release.set()
    eventually(lambda: all(each.name != "openenv-tool" for each in threading.enumerate()))
    assert await threads(lambda: 1) == 1


async def test_calls_whose_callers_wait_are_as_many_as_they_like() -> None:
    threads, together = OwnThreads(), threading.Barrier(3 * MOST_FORSAKEN)
    await asyncio.gather(*(threads(lambda: together.wait(30)) for _ in range(3 * MOST_FORSAKEN)))


async def test_a_call_is_made_in_the_context_of_its_caller() -> None:
    named.set("here")
    assert await OwnThreads()(named.get) == "here"


async def test_an_environment_of_tools_keeps_to_it() -> None:
    fastmcp = pytest.importorskip("fastmcp")
    from openenv.env.mcp_environment import MCPEnvironment
    from openenv.env.tool_models import CallToolAction, CallToolObservation

    release = threading.Event()

    class Hanging(MCPEnvironment[CallToolAction, CallToolObservation]):
        def __init__(self) -> None:
            super().__init__(fastmcp.FastMCP("hanging"))
            self._mode = "simulation"

            @self.tool(mode="simulation")
            def hang() -> None:
                release.wait(30)

        def reset(self, **options: object) -> CallToolObservation:
            raise NotImplementedError

        def _step_impl(self, *args: object, **options: object) -> CallToolObservation:
            raise NotImplementedError

    environment = Hanging()
    for _ in range(MOST_FORSAKEN):
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(environment.call_tool("hang", {}), 0.1)
    with pytest.raises(ToolFailure, match="still run"):
        await environment.call_tool("hang", {})
    release.set()
    environment.close()
