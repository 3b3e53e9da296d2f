"""Calls to make with a package's clients, and what came of each, as JSON.

In the test process the clients are this package's; ``python -m tests.interop.calls URL NAME...``
makes the same calls with the clients of the interpreter that runs it.
"""

import asyncio
import json
import math
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any, NamedTuple

from openenv import GenericEnvClient
from tests.interop.tiny import MILLION, TinyAction
from tests.interop.tiny_client import TinyClient

Outcome = dict[str, Any]
KINDS = ("async", "sync", "with", "generic", "generic-sync")
BLOCKING = ("sync", "with", "generic-sync")
WRAPPED = ("sync", "generic-sync")
SETTLE_S = 0.5


class Call(NamedTuple):
    """One call of one client; a client is made and entered when it is first named."""

    method: str
    arguments: dict[str, Any] = {}
    client: int = 0


def reset(**arguments: Any) -> Call:
    return Call("reset", {"seed": 1, "episode_id": "e1", **arguments})


def step(message: str, n: int = 1) -> Call:
    return Call("step", {"message": message, "n": n})


STATE = Call("state")
SETTLE = Call("settle")  # gives the server time to notice who has left

SCENARIOS: dict[str, list[Call]] = {
    "episode": [reset(level="hard", zz=1), STATE, step("hi", 2), STATE, step("quit", 5)],
    "rewards": [reset(), step("noreward"), step("nan")],
    "again": [reset(), step("quit"), reset(episode_id="e2"), STATE, step("hi"), STATE],
    "invalid": [reset(), step("", 9), step("still here")],
    "exceptions": [reset(), step("explode"), step("still here"), reset(boom=1), reset(), STATE],
    "big": [reset(), step("big", 3), step("y" * (5 * MILLION)), step("small")],
    "crowd": [
        SETTLE,
        *(Call("reset", {}, client) for client in range(5)),
        Call("close", {}, 0),
        SETTLE,
        Call("reset", {}, 5),
    ],
    "broken": [Call("reset")],
}


def made(kind: str, url: str) -> Any:
    """A client of that kind, ready to be entered."""
    client = (GenericEnvClient if kind.startswith("generic") else TinyClient)(base_url=url)
    return client.sync() if kind in WRAPPED else client


def arguments_of(kind: str, call: Call) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What to pass; a typed client gets an action that nobody has checked yet."""
    if call.method != "step":
        return (), call.arguments
    if kind.startswith("generic"):
        return (call.arguments,), {}
    return (TinyAction.model_construct(metadata={}, **call.arguments),), {}


def outcome(result: Any) -> Outcome | None:
    """A result in JSON, the same for typed and generic clients, with huge texts made short."""
    if result is None:
        return None
    if not hasattr(result, "observation"):
        state = result if isinstance(result, dict) else result.model_dump()
        return {"state": state}
    seen = result.observation
    fields = dict(seen) if isinstance(seen, dict) else seen.model_dump()
    kept = {name: brief(fields[name]) for name in ("echoed", "n", "metadata")}
    return {"observation": kept, "reward": number(result.reward), "done": result.done}


def brief(value: Any) -> Any:
    """A text that is too long to look at, described."""
    if isinstance(value, str) and len(value) > 1000:
        return f"{len(value)} x {''.join(sorted(set(value)))}"
    return value


def number(reward: Any) -> Any:
    """A reward in a form that equals itself."""
    return "nan" if isinstance(reward, float) and math.isnan(reward) else reward


def failure(error: Exception) -> Outcome:
    """An error in JSON."""
    names = [one.__name__ for one in type(error).__mro__]
    numbers = {
        name: getattr(error, name)
        for name in ("code", "active_sessions", "max_sessions")
        if hasattr(error, name)
    }
    return {"error": names, "text": str(error), **numbers}


def converse_sync(kind: str, url: str, calls: list[Call]) -> Iterator[Outcome | None]:
    clients: dict[int, Any] = {}
    with ExitStack() as stack:
        for call in calls:
            if call is SETTLE:
                time.sleep(SETTLE_S)
                continue
            try:
                if call.client not in clients:
                    clients[call.client] = stack.enter_context(made(kind, url))
                positional, named = arguments_of(kind, call)
                result = getattr(clients[call.client], call.method)(*positional, **named)
                yield outcome(result)
            except Exception as error:  # noqa: BLE001  # what it is, is what we want to know
                yield failure(error)


async def converse_async(kind: str, url: str, calls: list[Call]) -> list[Outcome | None]:
    clients: dict[int, Any] = {}
    outcomes = []
    async with AsyncExitStack() as stack:
        for call in calls:
            if call is SETTLE:
                await asyncio.sleep(SETTLE_S)
                continue
            try:
                if call.client not in clients:
                    client = made(kind, url)
                    clients[call.client] = await stack.enter_async_context(client)
                positional, named = arguments_of(kind, call)
                result = await getattr(clients[call.client], call.method)(*positional, **named)
                outcomes.append(outcome(result))
            except Exception as error:  # noqa: BLE001  # what it is, is what we want to know
                outcomes.append(failure(error))
    return outcomes


def converse(kind: str, url: str, name: str) -> list[Outcome | None]:
    """Make a scenario's calls with clients of one kind."""
    calls = SCENARIOS[name]
    if kind in BLOCKING:
        return list(converse_sync(kind, url, calls))
    return asyncio.run(converse_async(kind, url, calls))


if __name__ == "__main__":
    address, *names = sys.argv[1:]
    told = {name: {kind: converse(kind, address, name) for kind in KINDS} for name in names}
    sys.stdout.write(json.dumps(told) + "\n")
