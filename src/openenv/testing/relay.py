"""Relay: the proxy's own event loop: connections come in, and links are made of them."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import random
import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from concurrent.futures import Future
from typing import NamedTuple

from openenv.testing.fates import Fates, Refusal
from openenv.testing.faults import DIRECTIONS, Counter, Direction, Faults, FrameFault
from openenv.testing.link import Link, Stream

HEAD_END = b"\r\n\r\n"
HANDSHAKE = re.compile(rb"\r\nupgrade:\s*websocket\s*\r\n", re.IGNORECASE)
SWITCHED = re.compile(rb"HTTP/1\.1 101\b")


class Target(NamedTuple):
    """Where the server is."""

    host: str
    port: int


class Relay:
    """Everything is called on one event loop, that of `serve`.

    Args:
        target: the server.
        faults: what happens by chance, for each direction.
        seed: of that chance.
        counter: counts what passes.
    """

    def __init__(
        self, target: Target, faults: Mapping[Direction, Faults], seed: int, counter: Counter
    ) -> None:
        self._target = target
        self._faults = faults
        self._seed = seed
        self._counter = counter
        self._planned: dict[Direction, deque[FrameFault]] = {way: deque() for way in DIRECTIONS}
        self._refusals: Iterable[Refusal] = ()
        self._handshakes = itertools.count()
        self._links: set[Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thawed = asyncio.Event()
        self._stopped = asyncio.Event()

    async def serve(self, listening: Future[int]) -> None:
        """Serves until it is stopped; tells the port that it listens on."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=1024)
        self._thawed.set()
        listening.set_result(server.sockets[0].getsockname()[1])
        try:
            await self._stopped.wait()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        """Ends `serve`, and every connection with it."""
        self._stopped.set()

    def cut(self, *, reset: bool) -> None:
        """Ends every connection."""
        for link in self._links:
            link.cut(reset=reset)

    def freeze(self) -> None:
        """Lets nothing through."""
        self._thawed.clear()

    def thaw(self) -> None:
        """Lets everything through again."""
        self._thawed.set()
        for link in self._links:
            link.thaw()

    def refuse(self, refusals: Iterable[Refusal]) -> None:
        """Refuses one handshake with each."""
        self._refusals = iter(refusals)

    def disturb_next(self, fault: FrameFault, direction: Direction, n: int) -> None:
        """Plans a fault for the next data frames of a direction."""
        self._planned[direction].extend([fault] * n)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._tend(Stream(reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tend(self, client: Stream) -> None:
        """Serves one client to its end."""
        try:
            await self._carry(client)
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # it, or the server, left or made no sense before a link stood
        finally:
            client.abort()

    async def _carry(self, client: Stream) -> None:
        head = await client.reader.readuntil(HEAD_END)
        await self._thawed.wait()
        if HANDSHAKE.search(head) is None:
            async with self._linked(client) as (link, server):
                await server.write(head)
                await link.run()
            return
        number = next(self._handshakes)
        to_server, to_client = (self._fates(way, number) for way in DIRECTIONS)
        refusal = next(iter(self._refusals), None) or to_server.of_handshake()
        if refusal is not None:
            await self._refuse(client, refusal)
            return
        async with self._linked(client) as (link, server):
            await server.write(head)
            answer = await server.reader.readuntil(HEAD_END)
            await client.write(answer)
            if SWITCHED.match(answer):
                self._counter.connections += 1
                await link.run(to_server, to_client)
            else:
                await link.run()

    @contextlib.asynccontextmanager
    async def _linked(self, client: Stream) -> AsyncIterator[tuple[Link, Stream]]:
        """A link to the server; if nobody listens there, the client's connection is reset."""
        try:
            server = Stream(*await asyncio.open_connection(*self._target))
        except OSError:
            client.reset()
            raise
        link = Link(client, server, self._thawed)
        self._links.add(link)
        try:
            yield link, server
        finally:
            self._links.discard(link)
            server.abort()

    async def _refuse(self, client: Stream, refusal: Refusal) -> None:
        self._counter.faults["refuse"] += 1
        if refusal.status is None:
            client.reset()
            return
        phrase = http.client.responses.get(refusal.status, "Refused")
        lines = [f"HTTP/1.1 {refusal.status} {phrase}", "Content-Length: 0", "Connection: close"]
        await client.write("\r\n".join([*lines, "", ""]).encode())
        await client.close()

    def _fates(self, direction: Direction, number: int) -> Fates:
        return Fates(
            direction,
            self._faults[direction],
            random.Random(f"{self._seed}/{number}/{direction}"),
            self._planned[direction],
            self._counter,
        )
