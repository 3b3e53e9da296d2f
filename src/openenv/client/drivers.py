"""Drivers: they perform the effects of a client's flows, in the calling thread or on a loop."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from openenv.client.effects import (
    Disconnect,
    Drop,
    Effect,
    Exchange,
    Heard,
    Keep,
    Open,
    Sleep,
    Transmit,
    Wait,
    late,
)
from openenv.protocol.errors import SessionLost

if TYPE_CHECKING:
    from openenv.client.transports import AwaitingTransport, BlockingTransport

CLOSE_TIMEOUT_S = 15.0
"""How long a v1 goodbye waits for the server to free the session."""


class BlockingDriver:
    """Performs effects in the calling thread; all but those that are the client's own.

    Attributes:
        transport: the connection; `None` while there is none.
    """

    transport: BlockingTransport | None = None

    def open(self, effect: Open, connected: Callable[[], BlockingTransport]) -> str | None:
        """Makes a connection; gives the subprotocol that was agreed."""
        in_time(effect.wait, time.monotonic())
        self.drop()
        self.transport = connected()
        return self.transport.subprotocol

    def perform(self, effect: Effect) -> object:
        """Does it; gives its value."""
        match effect:
            case Transmit():
                return self._transmit(effect)
            case Exchange(frame, timeout_s):
                return self._connected().exchange(frame, timeout_s)
            case Sleep(seconds, wait):
                in_time(wait, time.monotonic() + seconds)
                time.sleep(seconds)
            case Keep(heartbeat, farewell):
                self._connected().keep(heartbeat, farewell)
            case Disconnect(goodbye):
                self._connected().close(goodbye, CLOSE_TIMEOUT_S)
                self.transport = None
            case Drop():
                self.drop()
        return None

    def drop(self) -> None:
        """Lets go of the connection, if there is one."""
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.abort()

    def _transmit(self, asked: Transmit) -> Heard:
        transport = self._connected()
        now = time.monotonic()
        deadline = asked.wait.until(now)
        for frame in asked.frames:
            transport.send(frame, deadline)
        until = min(deadline, now + asked.quiet_s)
        while not asked.done():
            message = transport.receive(until)
            if message is None:
                return Heard.LATE if until >= deadline else Heard.NOTHING
            asked.receive(message)
        return Heard.DONE

    def _connected(self) -> BlockingTransport:
        if self.transport is None:
            raise SessionLost("there is no connection; call reset()")
        return self.transport


class AwaitingDriver:
    """Performs effects on the running event loop; otherwise as `BlockingDriver`."""

    transport: AwaitingTransport | None = None

    async def open(
        self, effect: Open, connected: Callable[[], Awaitable[AwaitingTransport]]
    ) -> str | None:
        """Makes a connection; gives the subprotocol that was agreed."""
        in_time(effect.wait, time.monotonic())
        self.drop()
        self.transport = await connected()
        return self.transport.subprotocol

    async def perform(self, effect: Effect) -> object:
        """Does it; gives its value."""
        match effect:
            case Transmit():
                return await self._transmit(effect)
            case Exchange(frame, timeout_s):
                return await self._connected().exchange(frame, timeout_s)
            case Sleep(seconds, wait):
                in_time(wait, time.monotonic() + seconds)
                await asyncio.sleep(seconds)
            case Keep(heartbeat, farewell):
                self._connected().keep(heartbeat, farewell)
            case Disconnect(goodbye):
                await self._connected().close(goodbye, CLOSE_TIMEOUT_S)
                self.transport = None
            case Drop():
                self.drop()
        return None

    def drop(self) -> None:
        """Lets go of the connection, if there is one."""
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.abort()

    def forget(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lets go of a connection of another loop, without a word: its session goes on."""
        transport, self.transport = self.transport, None
        with contextlib.suppress(RuntimeError):  # that loop has closed
            if transport is not None:
                loop.call_soon_threadsafe(transport.abort)

    async def _transmit(self, asked: Transmit) -> Heard:
        transport = self._connected()
        now = time.monotonic()
        deadline = asked.wait.until(now)
        until = min(deadline, now + asked.quiet_s)
        if await transport.transmit(asked.frames, asked.receive, asked.done, until):
            return Heard.DONE
        return Heard.LATE if until >= deadline else Heard.NOTHING

    def _connected(self) -> AwaitingTransport:
        if self.transport is None:
            raise SessionLost("there is no connection; call reset()")
        return self.transport


def in_time(wait: Wait | None, moment: float) -> None:
    """Whether the caller still waits at a moment on the monotonic clock.

    Raises:
        ReplyTimeout: it does not.
    """
    if wait is not None and wait.until(time.monotonic()) < moment:
        raise late(wait)
