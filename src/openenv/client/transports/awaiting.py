"""A WebSocket on an event loop, as a client uses it: one call at a time, of either version."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from openenv.client.endpoint import Endpoint
from openenv.client.transports.stream import Stream
from openenv.protocol.client import raise_uninvited
from openenv.protocol.envelope import Frame
from openenv.protocol.errors import OpenEnvError, ProtocolError, SessionLost

MAX_UNINVITED = 16
"""Messages that may come while nobody listens, before the server is taken for broken."""


class AwaitingSocket:
    """One open connection, used on the loop that opened it."""

    def __init__(self, endpoint: Endpoint, stream: Stream, inbox: Inbox) -> None:
        self.loop = asyncio.get_running_loop()
        self._endpoint = endpoint
        self._stream = stream
        self._inbox = inbox
        self._finalizer = weakref.finalize(
            self, _from_any_thread, os.getpid(), self.loop, stream.abort
        )

    @classmethod
    async def open(cls, endpoint: Endpoint) -> AwaitingSocket:
        """Connects.

        Raises:
            ConnectFailed: it could not.
        """
        inbox = Inbox()
        return cls(endpoint, await Stream.open(endpoint, inbox.take, inbox.lose), inbox)

    @property
    def subprotocol(self) -> str | None:
        """What the server chose of what was offered."""
        return self._stream.subprotocol

    async def exchange(self, frame: str, timeout_s: float) -> Frame:
        """Sends a frame and returns the frame that answers it; otherwise as `BlockingSocket`."""
        inbox, heard = self._inbox, deque[Frame]()
        try:
            if (uninvited := inbox.oldest()) is not None:
                raise_uninvited(uninvited)
            with contextlib.suppress(SessionLost):  # it may have said why it left
                self._stream.send(frame)
            deadline = time.monotonic() + timeout_s
            if not await inbox.listen(heard.append, lambda: bool(heard), deadline):
                raise self._endpoint.late(timeout_s)
            return heard.popleft()
        except BaseException:
            self.abort()
            raise

    async def close(self, goodbye: str | None, timeout_s: float) -> None:
        """Says goodbye and waits until the server has freed the session, or time is up."""
        try:
            await self._stream.close(goodbye, timeout_s)
        finally:
            self._inbox.lose(self._stream.end)  # a call that still runs ends too

    async def transmit(
        self,
        frames: list[Frame],
        receive: Callable[[Frame], None],
        done: Callable[[], bool],
        deadline: float,
    ) -> bool:
        """Sends frames and has those received that come, until it is done or time is up.

        What the server leaves no room for by then is not sent.

        Raises:
            SessionLost: the connection has ended.
        """
        unsent = deque(frames)
        with contextlib.suppress(SessionLost):  # it may have said why it left
            self._send(unsent)
        if not unsent:
            return await self._inbox.listen(receive, done, deadline)
        sending = asyncio.ensure_future(self._send_slowly(unsent))
        try:
            return await self._inbox.listen(receive, done, deadline)
        finally:
            sending.cancel()
            await asyncio.wait([sending])

    def keep(self, heartbeat: Frame, farewell: Frame) -> None:
        """What to send when it is quiet, and when nobody holds the connection any more."""
        self._stream.keep_with(heartbeat)
        self._finalizer.detach()
        self._finalizer = weakref.finalize(
            self, _from_any_thread, os.getpid(), self.loop, self._stream.part, farewell
        )

    def abort(self) -> None:
        """Drops the connection without a word."""
        self._finalizer.detach()
        self._stream.abort()

    def _send(self, unsent: deque[Frame]) -> None:
        while unsent and self._stream.has_room:
            self._stream.send(unsent.popleft())

    async def _send_slowly(self, unsent: deque[Frame]) -> None:
        with contextlib.suppress(SessionLost):  # who listens is told
            while unsent:
                await self._stream.drain()
                self._send(unsent)


@dataclass(eq=False)
class Listener:
    """Somebody who waits for messages until it is done."""

    receive: Callable[[Frame], None]
    done: Callable[[], bool]
    waiter: asyncio.Future[bool]


class Inbox:
    """What a connection gives, for those who listen or for the next one who will.

    A second listener is the `close()` of a client in a call: whoever is handed a message, it may
    be what the other waits for.
    """

    def __init__(self) -> None:
        self._messages: deque[Frame] = deque()
        self._listeners: list[Listener] = []
        self._lost: OpenEnvError | None = None

    def take(self, message: Frame) -> None:
        """A message came."""
        listening = [each for each in self._listeners if not each.waiter.done()]
        if not listening:
            self._messages.append(message)
            if len(self._messages) > MAX_UNINVITED:
                raise ProtocolError("the server sends messages that nobody asked for")
            return
        try:
            listening[0].receive(message)
        except OpenEnvError as error:
            listening[0].waiter.set_exception(error)
            return
        for each in listening:
            if each.done():
                each.waiter.set_result(True)

    def lose(self, error: OpenEnvError) -> None:
        """The connection has ended."""
        self._lost = error
        for each in self._listeners:
            if not each.waiter.done():
                each.waiter.set_exception(error)

    def oldest(self) -> Frame | None:
        """A message that came while nobody listened."""
        return self._messages.popleft() if self._messages else None

    async def listen(
        self, receive: Callable[[Frame], None], done: Callable[[], bool], deadline: float
    ) -> bool:
        """Has messages received until it is done, or time is up; whether it is done.

        Raises:
            SessionLost: the connection has ended before that.
        """
        while (message := self.oldest()) is not None:
            receive(message)
        if done():
            return True
        if self._lost is not None:
            raise self._lost
        loop = asyncio.get_running_loop()
        listener = Listener(receive, done, loop.create_future())
        self._listeners.append(listener)
        timer = None
        if deadline < math.inf:
            timer = loop.call_later(deadline - time.monotonic(), _expire, listener.waiter)
        try:
            return await listener.waiter
        finally:
            self._listeners.remove(listener)
            if timer is not None:
                timer.cancel()


def _expire(waiter: asyncio.Future[bool]) -> None:
    if not waiter.done():
        waiter.set_result(False)


def _from_any_thread(
    owner: int, loop: asyncio.AbstractEventLoop, end: Callable[..., None], *arguments: Frame
) -> None:
    """Ends the connection of a client that was given up without `close()`.

    A forked child has no say: the connection, and the waking of its loop, are the parent's.
    """
    with contextlib.suppress(RuntimeError):  # the loop has closed, and its connections with it
        if os.getpid() == owner:
            loop.call_soon_threadsafe(end, *arguments)
