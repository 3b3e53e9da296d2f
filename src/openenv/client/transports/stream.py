"""Stream: a WebSocket on an event loop whose messages are handed over where they arrive."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any

from websockets.frames import CloseCode

from openenv.client.endpoint import Endpoint
from openenv.client.transports.dial import place, tunnel
from openenv.client.transports.websocket import WebSocket
from openenv.protocol.errors import ConnectFailed, OpenEnvError

if sys.version_info >= (3, 11):
    from asyncio import timeout as within
else:
    from async_timeout import timeout as within

MAX_REDIRECTS = 10
OnMessage = Callable[[str | bytes], object]
OnLost = Callable[[OpenEnvError], object]


class Stream(asyncio.Protocol):
    """One open connection, used on the loop that opened it.

    The loop holds it, and it holds its callbacks, until the connection ends or is dropped. Use
    `open` to make one.

    Args:
        endpoint: where to, and on what terms.
        on_message: gets each message, text as `str`; the first may come before `open` returns.
        on_lost: gets the reason once when the connection ends otherwise than by `close` or
            `abort`.
    """

    def __init__(self, endpoint: Endpoint, on_message: OnMessage, on_lost: OnLost) -> None:
        self._loop = asyncio.get_running_loop()
        self._endpoint = endpoint
        self._on_message = on_message
        self._when_lost = on_lost
        self._on_lost: OnLost | None = None
        self._websocket = WebSocket(endpoint, self._take)
        self._transport: asyncio.Transport | None = None
        self._opened: asyncio.Future[ConnectFailed | None] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._room: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    async def open(cls, endpoint: Endpoint, on_message: OnMessage, on_lost: OnLost) -> Stream:
        """Connects; goes where it is redirected to.

        Raises:
            ConnectFailed: it could not.
        """
        for _ in range(MAX_REDIRECTS):
            stream = cls(endpoint, on_message, on_lost)
            failure = await stream._open()
            if failure is None:
                return stream
            stream.abort()
            target = stream._websocket.redirected_to
            moved = None if target is None else endpoint.moved(target)
            if moved is None:
                raise failure
            endpoint = moved
        raise endpoint.failed("it is redirected again and again")

    @property
    def subprotocol(self) -> str | None:
        """What the server chose of what was offered."""
        return self._websocket.subprotocol

    @property
    def is_over(self) -> bool:
        """Whether the connection has ended."""
        return self._gone.done() or self._websocket.is_over

    @property
    def end(self) -> OpenEnvError:
        """How the connection ended."""
        return self._websocket.end

    @property
    def has_room(self) -> bool:
        """Whether more may be sent; `drain` waits for that. What has ended takes it, and raises."""
        return self._room is None or self.is_over

    def keep_with(self, heartbeat: str | bytes) -> None:
        """Has a message sent, instead of a ping, when it is quiet; whatever comes answers it."""
        self._websocket.heartbeat = heartbeat

    def send(self, frame: str | bytes) -> None:
        """Sends a message, or will as soon as there is room; see `drain`.

        Raises:
            SessionLost: the connection has ended.
        """
        if self._transport is None or self.is_over:
            raise self.end
        self._transport.writelines(self._websocket.frame(frame))

    async def drain(self) -> None:
        """Waits until the server has taken enough for more to be sent, or the connection ends."""
        if self._room is not None:
            await asyncio.wait([self._room, self._gone], return_when=asyncio.FIRST_COMPLETED)

    async def close(self, goodbye: str | bytes | None, timeout_s: float) -> None:
        """Says goodbye and waits until the server has closed the connection, or time is up.

        Args:
            goodbye: a message that has the server close it; `None` for a plain goodbye.
            timeout_s: for how long.
        """
        self._on_lost = None
        try:
            if not self.is_over:
                self._say_goodbye(goodbye)
                await asyncio.wait([self._gone], timeout=timeout_s)
        finally:
            self.abort()
        await asyncio.wait([self._gone])

    def part(self, farewell: str | bytes) -> None:
        """Drops the connection after a last word, for which nobody waits."""
        self._on_lost = None
        if self._transport is not None and not self.is_over:
            self.send(farewell)
            self._transport.close()

    def abort(self) -> None:
        """Drops the connection without a word."""
        self._on_lost = None
        if self._transport is not None and not self._gone.done():
            self._transport.abort()

    def connection_made(self, transport: Any) -> None:
        """Begins the handshake."""
        self._transport = transport
        self._flush()

    def data_received(self, data: bytes) -> None:
        """Hands messages over."""
        websocket = self._websocket
        try:
            websocket.receive(data)
        except OpenEnvError:  # whoever was handed a message would not have it
            websocket.fail(CloseCode.POLICY_VIOLATION, "messages that nobody asked for")
        self._flush()
        if not self._opened.done() and not websocket.is_connecting:
            self._settle(websocket.failure)
        if websocket.is_over:
            self._lose()

    def pause_writing(self) -> None:
        """The server takes less than it is sent."""
        self._room = self._loop.create_future()

    def resume_writing(self) -> None:
        """The server has caught up."""
        if self._room is not None:
            self._room.set_result(None)
            self._room = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The end, if it was not known yet."""
        self._websocket.receive(b"")
        if not self._opened.done():
            hung_up = self._endpoint.failed(exc or EOFError("the server hung up"))
            self._settle(self._websocket.failure or hung_up)
        self._gone.set_result(None)
        self._lose()

    async def _open(self) -> ConnectFailed | None:
        """Connects; gives the server's refusal, or raises what else went wrong."""
        endpoint = self._endpoint
        try:
            async with within(endpoint.connect_timeout):
                await _connect(endpoint, self)
                return await self._opened
        except BaseException as error:
            self.abort()
            if isinstance(error, asyncio.TimeoutError):
                error = TimeoutError("the server did not answer in time")
            if isinstance(error, ConnectFailed) or not isinstance(error, OSError | HTTPException):
                raise
            raise endpoint.failed(error) from error

    def _settle(self, failure: ConnectFailed | None) -> None:
        """The handshake has come to its end."""
        self._opened.set_result(failure)
        if failure is None:
            self._on_lost = self._when_lost
            self._keep_alive()

    def _lose(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.close()
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            on_lost(self.end)

    def _take(self, text: bool, payload: bytes) -> None:
        if not text:
            self._on_message(payload)
            return
        try:
            message = payload.decode()
        except UnicodeDecodeError:
            self._websocket.fail(CloseCode.INVALID_DATA, "text that is not UTF-8")
        else:
            self._on_message(message)

    def _say_goodbye(self, goodbye: str | bytes | None) -> None:
        if goodbye is None:
            self._websocket.say_goodbye()
            self._flush()
        else:
            self.send(goodbye)

    def _flush(self) -> None:
        if (pieces := self._websocket.outgoing()) and self._transport is not None:
            self._transport.writelines(pieces)

    def _keep_alive(self) -> None:
        """Looks for signs of life when the next is due."""
        websocket = self._websocket
        now = time.monotonic()
        websocket.keep_alive(now)
        self._flush()
        if websocket.is_over:
            self._lose()
        elif (pause := websocket.pause(now)) is not None:
            self._timer = self._loop.call_later(pause, self._keep_alive)


async def _connect(endpoint: Endpoint, stream: Stream) -> None:
    """Has a stream connected, through a proxy and TLS where the address asks for them."""
    host, port, secure = place(endpoint)
    tls: Any = {"ssl": ssl.create_default_context(), "server_hostname": host} if secure else {}
    loop = asyncio.get_running_loop()
    if endpoint.proxy is None:
        await loop.create_connection(lambda: stream, host, port, **tls)
        return
    dialling = loop.run_in_executor(None, tunnel, endpoint)
    try:
        connection: Any = await asyncio.shield(dialling)
    except asyncio.CancelledError:
        dialling.add_done_callback(_hang_up)
        raise
    await loop.create_connection(lambda: stream, sock=connection, **tls)


def _hang_up(dialling: asyncio.Future[socket.socket | None]) -> None:
    """Closes a tunnel that nobody waits for any more."""
    if not (dialling.cancelled() or dialling.exception()) and (opened := dialling.result()):
        opened.close()
