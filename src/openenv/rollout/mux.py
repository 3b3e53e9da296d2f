"""Mux: requests of many sessions at the same time, over one connection of wire v2."""

from __future__ import annotations

import asyncio
import contextlib
import math
from functools import partial
from typing import Any

from openenv._flow import Flow, adrive
from openenv.client.conversation import persistently
from openenv.client.dialogue import Dialogue
from openenv.client.effects import Effect, Heard, Keep, Open, Sleep, Transmit, Wait, late
from openenv.client.endpoint import Endpoint
from openenv.client.transports.stream import Stream
from openenv.protocol.envelope import Encoding, Frame
from openenv.protocol.errors import (
    ConnectFailed,
    OpenEnvError,
    ProtocolError,
    SessionError,
    SessionGone,
    SessionLost,
)
from openenv.protocol.line import Call, ClientChannel
from openenv.protocol.messages import Request
from openenv.rollout.breaker import Breaker

GOODBYE_S = 5.0
"""How long a server that speaks only v1 may take to end the session of a first connection."""

PING_CHANNEL = 2**31
"""Where no session is."""


class Mux:
    """One connection, and whoever waits for an answer over it.

    One task follows the dialogue, and makes a broken connection again, for as long as anybody
    waits. What is asked meanwhile is sent at once.

    Args:
        endpoint: how the server is reached.
        breaker: what is known of the server.

    Attributes:
        dialogue: with the server, once it was agreed to speak v2.
    """

    dialogue: Dialogue

    def __init__(self, endpoint: Endpoint, breaker: Breaker) -> None:
        self._endpoint = endpoint
        self._breaker = breaker
        self._loop = asyncio.get_running_loop()
        self._stream: Stream | None = None
        self._waiting: dict[Call, asyncio.Future[None]] = {}
        self._following: asyncio.Task[None] | None = None
        self._transmitting: Transmit | None = None
        self._heard: asyncio.Future[Heard] = self._loop.create_future()

    async def agree(self) -> bool:
        """Connects; whether the server speaks v2.

        Raises:
            ConnectFailed: it could not.
        """
        await self._drive(persistently(self._endpoint.connect_retries))
        assert self._stream is not None
        encoding = Encoding.agreed(self._stream.subprotocol)
        if encoding is None:  # its slots get connections of their own, and this one's session back
            await self._stream.close(Request("close").frame(), GOODBYE_S)
            return False
        self.dialogue = Dialogue(encoding, self._endpoint.max_message_bytes)
        await self._perform(self.dialogue.keep)
        return True

    async def ready(self, timeout_s: float) -> None:
        """Makes a broken connection again, before anything new is asked over it.

        Raises:
            ConnectFailed: it could not.
            ReplyTimeout: it took too long.
        """
        await self.settle(self.dialogue.line.call(ClientChannel(PING_CHANNEL), "ping"), timeout_s)

    async def open(self, channel: ClientChannel, wait_s: float, timeout_s: float) -> None:
        """Opens a session on a channel that was not used before; errors as `settle`.

        Args:
            channel: a new one.
            wait_s: how long it may queue for a slot of the server.
            timeout_s: how long the answer may take after that.

        Raises:
            SessionError: the server refused.
        """
        dialogue = self.dialogue
        wanted = {"wait_s": wait_s, "max_reply_bytes": self._endpoint.max_message_bytes}
        call = dialogue.line.call(channel, "open", wanted)
        dialogue.channels[channel.number] = channel
        try:
            await self.settle(call, wait_s + timeout_s)
            call.result()
        except OpenEnvError:
            self.forsake(channel)
            raise

    async def settle(self, call: Call, timeout_s: float) -> None:
        """Sends a request and waits until it is answered, whatever becomes of the connection.

        Raises:
            ReplyTimeout: the time was up.
            ConnectFailed: the connection broke and could not be made again.
        """
        answered: asyncio.Future[None] = self._loop.create_future()
        timer = None
        if timeout_s < math.inf:
            timer = self._loop.call_later(timeout_s, _expire, answered, timeout_s)
        self._waiting[call] = answered
        try:
            self._send(call)
            await answered
        finally:
            self._waiting.pop(call, None)
            if timer is not None:
                timer.cancel()
            if not call.done():
                self.dialogue.line.abandon(call)

    def forsake(self, channel: ClientChannel) -> None:
        """Gives a session up without waiting for what runs in it; the server is told."""
        line = self.dialogue.line
        goodbye = line.call(channel, "close", {"now": True})
        line.abandon(goodbye)
        self.dialogue.channels.pop(channel.number, None)
        line.end(channel, SessionGone("the session was given up"))
        self._say(goodbye.frame)

    def come_over(self) -> None:
        """Leaves a connection behind that belongs to another event loop."""
        if self._loop is not (here := asyncio.get_running_loop()):
            self._loop, self._stream, self._following = here, None, None
            self.dialogue.cut()

    async def close(self) -> None:
        """Lets go of the connection."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        self._drop()

    def _send(self, call: Call) -> None:
        """Has a request sent: at once, or by the task that follows the dialogue."""
        if self._following is None:
            self._following = asyncio.create_task(self._follow())
        elif self._transmitting is not None and self._transmitting.done == self._sorted:
            self._say(call.frame)

    def _say(self, frame: Frame) -> None:
        """Sends a frame now, if there is a connection; on the next one what counts is repeated."""
        if self._stream is not None:
            with contextlib.suppress(SessionLost):
                self._stream.send(frame)

    async def _follow(self) -> None:
        """Follows the dialogue for as long as anybody waits."""
        try:
            while self._waiting:
                frames = self.dialogue.line.unanswered()
                await self._drive(self.dialogue.until(self._sorted, frames, Wait(math.inf)))
        except Exception as error:  # noqa: BLE001  # raised by whoever waits
            self.dialogue.cut()
            for answered in self._waiting.values():
                if not answered.done():
                    answered.set_exception(error)
        finally:
            self._following = None

    def _sorted(self) -> bool:
        """Lets those go on whose answers are there; whether nobody waits any more."""
        for call in [call for call in self._waiting if call.answer is not None]:
            if call.op == "open":  # here and now: it is to be resumed if the connection breaks next
                _take_session(call)
            answered = self._waiting.pop(call)
            if not answered.done():
                answered.set_result(None)
        return not self._waiting

    async def _drive(self, flow: Flow[Effect, Any]) -> None:
        try:
            await adrive(flow, self._perform)
        except ConnectFailed:
            self._breaker.trip()
            raise

    async def _perform(self, effect: Effect) -> object:
        match effect:
            case Transmit():
                return await self._transmit(effect)
            case Open():
                self._drop()
                connect = partial(Stream.open, self._endpoint, self._take, self._lose)
                self._stream = await self._breaker.attempt(connect)
                return self._stream.subprotocol
            case Sleep(seconds):
                await asyncio.sleep(seconds)
            case Keep(heartbeat) if self._stream is not None:
                self._stream.keep_with(heartbeat)
        return None

    async def _transmit(self, asked: Transmit) -> Heard:
        if self._stream is None:
            raise SessionLost("there is no connection")
        for frame in asked.frames:
            self._stream.send(frame)
        self._transmitting, self._heard = asked, self._loop.create_future()
        timer = self._loop.call_later(asked.quiet_s, _hear, self._heard, Heard.NOTHING)
        try:
            return await self._heard
        finally:
            timer.cancel()
            self._transmitting = None

    def _take(self, message: Frame) -> None:
        """A message came."""
        try:
            self.dialogue.line.receive(message)
        except OpenEnvError as error:
            self._drop()
            self._lose(error)
        else:
            if self._transmitting is not None and self._transmitting.done():
                _hear(self._heard, Heard.DONE)

    def _lose(self, error: OpenEnvError) -> None:
        """The connection has ended."""
        if self._transmitting is None:
            self.dialogue.cut()
        elif not self._heard.done():
            self._heard.set_exception(error)

    def _drop(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort()


def _take_session(opened: Call) -> None:
    with contextlib.suppress(SessionError, ProtocolError):  # whoever waits for it is told
        opened.channel.opened(opened.result())


def _hear(heard: asyncio.Future[Heard], what: Heard) -> None:
    if not heard.done():
        heard.set_result(what)


def _expire(answered: asyncio.Future[None], timeout_s: float) -> None:
    if not answered.done():
        answered.set_exception(late(Wait(timeout_s)))
