"""Sample actions of any environment: made up from its action's schema, or from its tools'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import cycle, islice
from typing import Any

from openenv.client.sync_client import SyncEnvClient
from openenv.protocol.errors import OpenEnvError
from openenv.rollout.made_up.fitting import Json, Schema
from openenv.rollout.made_up.samples import NoSample, samples

_CALL = "call_tool"
Player = SyncEnvClient[Any, Json, Json]
"""A client that plays: in plain dicts, blocking."""


def is_call(action: Any) -> bool:
    """Whether an action, as the wire has it, is a call of a tool."""
    return isinstance(action, dict) and action.get("type") == _CALL


def takes_calls(action: Schema) -> bool:
    """Whether the schema of an environment's actions is that of calls of its tools."""
    fields = action.get("properties") if isinstance(action, dict) else None
    kind = fields.get("type") if isinstance(fields, dict) else None
    return isinstance(kind, dict) and kind.get("const") == _CALL


def made_up(action: Schema, count: int, client: Callable[[], Player]) -> list[Json]:
    """Actions that fit a schema; where they are calls of tools, calls of those there are.

    Args:
        action: the schema of the environment's actions.
        count: how many actions.
        client: makes a client that has not connected yet, to ask for the tools.

    Raises:
        NoSample: none can be made up.
    """
    if not takes_calls(action):
        return samples(action, count)
    return calls(offered(client), count)


def offered(client: Callable[[], Player]) -> list[Json]:
    """The tools of an environment, as it lists them.

    Args:
        client: makes a client that has not connected yet.

    Raises:
        NoSample: it cannot list them.
    """
    try:
        with closing(client()) as asked:
            asked.connect()
            listed = asked.step({"type": "list_tools"}).observation.get("tools")
    except OpenEnvError as error:
        raise NoSample(f"its tools cannot be listed: {error}") from error
    return [tool for tool in listed or () if isinstance(tool, dict) and tool.get("name")]


def calls(tools: Sequence[Json], count: int) -> list[Json]:
    """Calls of tools in turn, with arguments that fit their schemas.

    A tool of which no arguments can be made up is left out, where there are others.

    Args:
        tools: with the `name` and the `input_schema` of each.
        count: how many calls.

    Raises:
        NoSample: of no tool can a call be made up.
    """
    each = -(-count // max(len(tools), 1))
    made: list[list[Json]] = []
    misses: list[str] = []
    for tool in tools:
        try:
            arguments = samples(tool.get("input_schema") or {"type": "object"}, each)
        except NoSample as error:
            misses.append(f"of the tool {tool['name']!r}: {error}")
            continue
        made.append([_call(tool["name"], given) for given in arguments])
    if not made:
        raise NoSample("; ".join(misses[:3]) or "it has no tools")
    in_turn = [call for turn in zip(*made, strict=True) for call in turn]
    return list(islice(cycle(in_turn), count))


def _call(name: str, arguments: Json) -> Json:
    return {"type": _CALL, "tool_name": name, "arguments": arguments}
