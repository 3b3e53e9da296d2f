"""`/ws`: one connection; in v1 it is one session, in v2 it carries many."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qs

from openenv.protocol.envelope import V1, Encoding, Frame
from openenv.protocol.errors import SessionError
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.asgi import Event, Receive, Scope, Send
from openenv.server.authority import may_control
from openenv.server.channels import Channels
from openenv.server.conversation import Conversation
from openenv.server.guard import refuse_control
from openenv.server.mcp.asking import begun
from openenv.server.mcp.methods import OpenEnvMethods

Connection = tuple[Scope, Receive, Send]
Leave = Callable[[], Awaitable[None]]
Opening = Coroutine[Any, Any, tuple[Seat, Leave]]
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


class SessionTalk(Talk, Protocol):
    """What is said on a socket that is one session."""

    @property
    def over(self) -> asyncio.Future[None]:
        """Done when there is nothing more to say."""

    def begin(self, seat: Seat) -> None:
        """The session is there."""

    def cut_off(self, error: SessionError) -> None:
        """Tells the client that there is no session (any more), and says no more."""


TalkT = TypeVar("TalkT", bound=Talk)


class WebSocketEndpoint:
    """The ASGI application behind `/ws`.

    The socket is always accepted. A client that offers v2 as a subprotocol opens its sessions
    itself. In v1 whatever stands in the way of the one session is told in one `error` frame, then
    the socket is closed normally; the query `?wait_s=30` queues for a slot, and `?session_id=`
    attaches the socket to a session that was made over `/mcp`, which outlives it.

    Args:
        sessions: the server's.
        tools: what answers `mcp` frames.
        v2: whether v2 is spoken with those who offer it.
        for_agents: those who may not control episodes may speak of tools; else they are refused.
    """

    def __init__(
        self,
        sessions: Sessions,
        tools: OpenEnvMethods,
        *,
        v2: bool = True,
        for_agents: bool = False,
    ) -> None:
        self._sessions = sessions
        self._tools = tools
        self._v2 = v2
        self._for_agents = for_agents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection until either side ends it."""
        if not may_control(scope) and not self._for_agents:
            return await refuse_control(scope, receive, send)
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        wanted = query.get("session_id", [None])[0]
        control = may_control(scope)
        one_session = wanted is not None or not self._v2 or not control
        encoding = None if one_session else Encoding.chosen(scope.get("subprotocols", []))
        if encoding is not None:
            await self._carry_many(encoding, (scope, receive, send))
        elif wanted is not None:
            await self._carry_one(self._join(wanted), (scope, receive, send))
        else:
            opening = self._open(_wait_s(query)) if control else self._open_for_agent()
            await self._carry_one(opening, (scope, receive, send))
        return None

    async def _carry_many(self, encoding: Encoding, connection: Connection) -> None:
        def channels(carrier: Carrier) -> Channels:
            return Channels(self._sessions, encoding, carrier.emit, carrier.hold)

        async with accepted(connection, channels, encoding.value) as (talk, client):
            await _until_left(talk, client)

    async def _carry_one(self, opening: Opening, connection: Connection) -> None:
        def conversation(carrier: Carrier) -> Conversation:
            control = may_control(connection[0])
            return Conversation(carrier.emit, carrier.hold, self._tools, control=control)

        v1 = V1 if V1 in connection[0].get("subprotocols", []) else None
        async with accepted(connection, conversation, v1) as (talk, client):
            await converse(talk, client, opening)

    async def _open(self, wait_s: float) -> tuple[Seat, Leave]:
        seat = await self._sessions.open(wait_s=wait_s, attached=True)
        return seat, seat.close

    async def _open_for_agent(self) -> tuple[Seat, Leave]:
        """A session in which an episode has begun, as its holder may not begin one."""
        seat = await begun(self._sessions, attached=True)
        return seat, seat.close

    async def _join(self, session_id: str) -> tuple[Seat, Leave]:
        joined = self._sessions.join(session_id)
        return joined.seat, joined.leave


@asynccontextmanager
async def accepted(
    connection: Connection, talk_on: Callable[[Carrier], TalkT], subprotocol: str | None = None
) -> AsyncIterator[tuple[TalkT, asyncio.Future[None]]]:
    """An accepted socket, closed normally when the block ends.

    Args:
        connection: the ASGI connection.
        talk_on: begins the talk on the socket.
        subprotocol: the one of the client's offers that is spoken.

    Yields:
        The talk, and what ends when the client leaves.
    """
    scope, receive, send = connection
    await receive()
    offered = scope.get("extensions", {}).get(DIRECT)
    carrier: Carrier = AsgiCarrier(receive, send) if offered is None else offered(receive, send)
    talk = talk_on(carrier)
    client = asyncio.ensure_future(carrier.carry(talk))
    accept: Event = {"type": "websocket.accept"}
    try:
        await send(accept if subprotocol is None else {**accept, "subprotocol": subprotocol})
        with suppress(OSError):  # the client may leave at any time
            yield talk, client
    finally:
        await carrier.end()
        client.cancel()


async def converse(talk: SessionTalk, client: asyncio.Future[None], opening: Opening) -> None:
    """Opens a session for a talk, and leaves it when the talk is over or the client has left.

    Args:
        talk: what is said on the socket.
        client: what ends when the client leaves.
        opening: gives the session, and how to leave it.
    """
    try:
        opened = await _opened(client, asyncio.ensure_future(opening))
    except SessionError as error:
        return talk.cut_off(error)
    if opened is None:
        return None
    seat, leave = opened
    try:
        talk.begin(seat)
        await asyncio.wait([talk.over, client], return_when=asyncio.FIRST_COMPLETED)
    finally:
        await leave()
    return None


async def _opened(
    client: asyncio.Future[None], opening: asyncio.Future[tuple[Seat, Leave]]
) -> tuple[Seat, Leave] | None:
    """The session, or nothing if the client left before there was one for it."""
    client.add_done_callback(lambda _: opening.cancel())
    try:
        return await opening
    except asyncio.CancelledError:
        if opening.done() and not opening.cancelled() and opening.exception() is None:
            await opening.result()[1]()
        if client.done():
            return None
        raise


async def _until_left(channels: Channels, client: asyncio.Future[None]) -> None:
    try:
        await asyncio.wait([client])
    finally:
        await channels.leave()


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


def _wait_s(query: Mapping[str, list[str]]) -> float:
    """The seconds that a client is ready to queue, from `?wait_s=`; 0 if it does not say."""
    try:
        wait_s = float(query.get("wait_s", ["0"])[0])
    except ValueError:
        return 0.0
    return wait_s if 0 < wait_s < math.inf else 0.0
