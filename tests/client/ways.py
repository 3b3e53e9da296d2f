"""The ways to use a client: blocking or awaiting, over a socket (v1, v2) or in this process."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from openenv import local
from tests.client.worlds import PATIENCE_S, Parrot, ParrotClient

ResultT = TypeVar("ResultT")
Ask = Callable[[Any], Awaitable[Any]]
Talk = Callable[[Any, Ask], Coroutine[Any, Any, ResultT]]
"""A test's body: `async def talk(client, ask)`, where every call is `await ask(client.…())`."""


@dataclass(frozen=True)
class Way:
    """One of the ways; a body that is written once runs in any."""

    colour: str
    url: str | None
    protocol: str | None = None

    def client(
        self, client_class: type[Any] = ParrotClient, env: Any = Parrot, **options: Any
    ) -> Any:
        """A client that has not been used yet."""
        if self.url is None:
            return local(env, client_class=client_class)
        if self.protocol is not None:
            options = {"protocol": self.protocol} | options
        return client_class(base_url=self.url, **options)

    def run(self, talk: Talk[ResultT], client: Any = None) -> ResultT:
        """Runs a body with a client, which is closed afterwards."""
        return talking(self.colour, talk, self.client() if client is None else client)


def talking(colour: str, talk: Talk[ResultT], client: Any) -> ResultT:
    """Runs a body with a client in one of the colours; the client is closed afterwards."""
    if colour == "awaiting":
        return asyncio.run(_closing(talk, client, _awaited))
    coroutine = _closing(talk, client, _ready)
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: ResultT = end.value
        return result
    raise AssertionError("a blocking call gave something to await")


async def _closing(talk: Talk[ResultT], client: Any, ask: Ask) -> ResultT:
    try:
        return await talk(client, ask)
    finally:
        await ask(client.close())


async def _awaited(call: Awaitable[Any]) -> Any:
    return await call


async def _ready(result: Any) -> Any:
    return result


async def until(client: Any, ask: Ask, holds: Callable[[], object]) -> None:
    """Lets time pass in the client's colour until a condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "the condition did not come to hold in time"
        await ask(client.pause(0.01))
