"""A session with a FastMCP server that breaks while several calls are under way."""

import asyncio

import pytest

from openenv.env.tools import ToolContext

fastmcp = pytest.importorskip("fastmcp")


async def test_calls_that_break_together_begin_one_session_anew() -> None:
    from openenv.env.fastmcp_tools import FastMCPTools

    def look() -> str:
        """Looks."""
        return "a view"

    server = fastmcp.FastMCP("fragile")
    server.tool(look)
    tools = FastMCPTools(server)
    assert (await tools.call("look", {}, ToolContext()))["data"] == "a view"
    broken = tools._client
    await asyncio.gather(*(tools._begin_anew(broken) for _ in range(3)))
    assert (await tools.call("look", {}, ToolContext()))["data"] == "a view"
    fresh = tools._client
    await tools._begin_anew(broken)  # a call of the old session that breaks late
    assert tools._client is fresh
    assert fresh is not broken
    await tools.close()
