"""`/ws`: one connection; in v1 it is one session, in v2 it carries many."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from typing import Protocol
from urllib.parse import parse_qs

from openenv.protocol.envelope import Encoding, Frame
from openenv.protocol.errors import SessionError
from openenv.protocol.messages import error_reply
from openenv.runtime.sessions import Sessions
from openenv.server.asgi import Event, Receive, Scope, Send
from openenv.server.channels import Channels
from openenv.server.conversation import Conversation

DIRECT = "openenv.direct"
"""The scope's extension under which our own server offers a `Carrier` without ASGI's detours."""


class Talk(Protocol):
    """What is said on a socket, whichever version of the wire it speaks."""

    def on_frame(self, frame: Frame) -> None:
        """Takes what the client sent."""

    def choke(self, on: bool) -> None:
        """The client takes no more replies for now, or does again."""


class Carrier(Protocol):
    """An accepted socket."""

    def emit(self, frame: Frame) -> None:
        """Sends a text or a binary frame, or will."""

    def hold(self, on: bool) -> None:
        """Stops or goes on reading."""

    def carry(self, talk: Talk) -> Coroutine[None, None, None]:
        """Hands over what the client sends from now on; gives what ends when it leaves."""

    async def end(self) -> None:
        """Closes the socket normally, after what was sent."""


class WebSocketEndpoint:
    """The ASGI application behind `/ws`.

    The socket is always accepted. A client that offers v2 as a subprotocol opens its sessions
    itself. In v1 whatever stands in the way of the one session is told in one `error` frame, then
    the socket is closed normally; the query `?wait_s=30` queues for a slot.

    Args:
        sessions: the server's.
        v2: whether v2 is spoken with those who offer it.
    """

    def __init__(self, sessions: Sessions, *, v2: bool = True) -> None:
        self._sessions = sessions
        self._v2 = v2

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection until either side ends it."""
        await receive()
        offered = scope.get("extensions", {}).get(DIRECT)
        carrier: Carrier = AsgiCarrier(receive, send) if offered is None else offered(receive, send)
        encoding = Encoding.chosen(scope.get("subprotocols", [])) if self._v2 else None
        talk: Channels | Conversation = (
            Conversation(carrier.emit, carrier.hold)
            if encoding is None
            else Channels(self._sessions, encoding, carrier.emit, carrier.hold)
        )
        client = asyncio.ensure_future(carrier.carry(talk))
        try:
            await send(_accept(encoding))
            if isinstance(talk, Channels):
                await _until_left(talk, client)
            else:
                await self._converse(talk, client, _wait_s(scope))
        except SessionError as error:
            carrier.emit(error_reply(error).frame())
        except OSError:  # the client may leave at any time
            pass
        finally:
            await carrier.end()
            client.cancel()

    async def _converse(
        self, conversation: Conversation, client: asyncio.Future[None], wait_s: float
    ) -> None:
        opening = asyncio.ensure_future(self._sessions.open(wait_s=wait_s, attached=True))
        client.add_done_callback(lambda _: opening.cancel())
        try:
            seat = await opening
        except asyncio.CancelledError:
            if opening.done() and not opening.cancelled() and opening.exception() is None:
                await opening.result().close()
            if client.done():  # it left before there was a session for it
                return
            raise
        try:
            conversation.begin(seat)
            await asyncio.wait([conversation.over, client], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await seat.close()


async def _until_left(channels: Channels, client: asyncio.Future[None]) -> None:
    try:
        await asyncio.wait([client])
    finally:
        await channels.leave()


def _accept(encoding: Encoding | None) -> Event:
    accept: Event = {"type": "websocket.accept"}
    if encoding is not None:
        accept["subprotocol"] = encoding.value
    return accept


class AsgiCarrier:
    """A socket of any ASGI server."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._talk: Talk | None = None
        self._outbox: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._sending = asyncio.ensure_future(self._send_all())
        self._gone = False
        self._may_read = asyncio.Event()
        self._may_read.set()

    def emit(self, frame: Frame) -> None:
        """Queues a frame for sending; the next is answered when it is sent."""
        self._outbox.put_nowait(frame)
        self._choke(True)

    def hold(self, on: bool) -> None:
        """Stops or goes on reading."""
        if on and not self._gone:
            self._may_read.clear()
        else:
            self._may_read.set()

    async def carry(self, talk: Talk) -> None:
        """Hands over what the client sends, until it leaves."""
        self._talk = talk
        while (event := await self._next())["type"] != "websocket.disconnect":
            text: str | None = event.get("text")
            talk.on_frame(event["bytes"] if text is None else text)

    async def end(self) -> None:
        """Closes the socket normally, after what was sent."""
        self._outbox.put_nowait(None)
        await self._sending

    def _choke(self, on: bool) -> None:
        if self._talk is not None:
            self._talk.choke(on)

    async def _next(self) -> Event:
        await self._may_read.wait()
        return await self._receive()

    async def _send_all(self) -> None:
        try:
            while (frame := await self._outbox.get()) is not None:
                form = "text" if isinstance(frame, str) else "bytes"
                await self._send({"type": "websocket.send", form: frame})
                if self._outbox.empty():
                    self._choke(False)
            await self._send({"type": "websocket.close", "code": 1000})
        except (OSError, RuntimeError):  # the client has left, and reading on tells so
            self._gone = True
            self.hold(False)


def _wait_s(scope: Scope) -> float:
    """The seconds that a client is ready to queue, from `?wait_s=`; 0 if it does not say."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    try:
        wait_s = float(query.get("wait_s", ["0"])[0])
    except ValueError:
        return 0.0
    return wait_s if 0 < wait_s < math.inf else 0.0
