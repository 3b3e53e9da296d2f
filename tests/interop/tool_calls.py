"""Calls of tools, made with the client of whichever package is installed.

As a script it makes them all with each kind of client, and prints what came of them as JSON, by
the server's address: ``tool_calls.py URL...``. The servers have room for one session: who leaves a
slot behind is told.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from openenv.core.env_server import CallToolAction
from openenv.core.mcp_client import MCPToolClient

Ask = Callable[[Any], Awaitable[Any]]
Outcome = dict[str, Any]
KINDS = ("sync", "async")


async def failure(call: Callable[[], Any], ask: Ask) -> list[str]:
    """The text of an error, and what it is besides a `RuntimeError`."""
    try:
        await ask(call())
    except RuntimeError as error:
        return [str(error), str(getattr(error, "error_type", ""))]
    return ["no error"]


async def listing(client: Any, ask: Ask) -> Outcome:
    """What there is."""
    tools = await ask(client.list_tools())
    found = await ask(client.get_tool("buy"))
    return {
        "names": sorted(tool.name for tool in tools),
        "described": found and found.description,
        "arguments": found and sorted(found.input_schema["properties"]),
        "has": [await ask(client.has_tool(name)) for name in ("undescribed", "steal")],
    }


async def calling(client: Any, ask: Ask) -> Outcome:
    """Calls in one session."""
    return {
        "bought": [await ask(client.call_tool("buy", count=count)) for count in (1, 2, 3)],
        "said": await ask(client.call_tool("undescribed", word="hi")),
        "fails": await failure(lambda: client.call_tool("fails"), ask),
        "steal": await failure(lambda: client.call_tool("steal"), ask),
        "wrong": await failure(lambda: client.call_tool("buy", count="many"), ask),
        "after": await ask(client.call_tool("buy")),
    }


async def playing(client: Any, ask: Ask) -> Outcome:
    """Tools and the episode, in one session."""
    before = await ask(client.call_tool("buy", count=5))
    began = await ask(client.reset(episode_id="e1"))
    called = await ask(client.call_tool("buy"))
    stepped = await ask(client.step(CallToolAction(tool_name="buy", arguments={"count": 2})))
    state = await ask(client.state())
    return {
        "before": before,
        "began": [began.reward, began.done],
        "called": called,
        "stepped": stepped.observation.result["data"],
        "state": [state.episode_id, getattr(state, "items", None)],
    }


SCENARIOS = {"listing": listing, "calling": calling, "playing": playing}


async def _ready(result: Any) -> Any:
    return result


async def _awaited(call: Any) -> Any:
    return await call


def run_sync(url: str, scenario: Callable[[Any, Ask], Awaitable[Outcome]]) -> Outcome:
    with MCPToolClient(base_url=url).sync() as client:
        return asyncio.run(scenario(client, _ready))  # type: ignore[arg-type]


async def run_async(url: str, scenario: Callable[[Any, Ask], Awaitable[Outcome]]) -> Outcome:
    async with MCPToolClient(base_url=url) as client:
        return await scenario(client, _awaited)


def made(kind: str, url: str, name: str) -> Outcome:
    """What came of a scenario with one kind of client."""
    if kind == "sync":
        return run_sync(url, SCENARIOS[name])
    return asyncio.run(run_async(url, SCENARIOS[name]))


if __name__ == "__main__":
    told = {
        url: {name: {kind: made(kind, url, name) for kind in KINDS} for name in SCENARIOS}
        for url in sys.argv[1:]
    }
    sys.stdout.write(json.dumps(told) + "\n")
