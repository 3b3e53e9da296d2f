"""`/ws`: one connection, one session, one frame at a time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import parse_qs

from openenv.protocol.errors import InvalidRequest, SessionError
from openenv.protocol.messages import Reply, error_reply, parse_request
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
ResultT = TypeVar("ResultT")


class ClientGoneError(Exception):
    """The client left while something was being done for it."""


class WebSocketEndpoint:
    """The ASGI application behind `/ws`.

    The socket is always accepted: whatever stands in the way of a session is told in one `error`
    frame, then the socket is closed normally. The query `?wait_s=30` queues for a slot.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection until either side ends it."""
        await receive()
        with suppress(ClientGoneError, OSError):  # the client may leave at any time
            await send({"type": "websocket.accept"})
            conversation = Conversation(receive, send)
            try:
                await self._converse(conversation, _wait_s(scope))
            except SessionError as error:
                await conversation.answer(error_reply(error))
            await conversation.end()

    async def _converse(self, conversation: Conversation, wait_s: float) -> None:
        seat = await conversation.unless_gone(self._sessions.open(wait_s=wait_s, attached=True))
        seat.on_close(conversation.cut_off)
        try:
            await conversation.run(seat)
        finally:
            await seat.close()


class Conversation:
    """Requests and replies on one accepted socket.

    While a request takes time, the next event is awaited beside it: a client that leaves is
    noticed at once, and a frame sent too early waits for its turn.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._ahead: asyncio.Task[Event] | None = None
        self._gone = False

    async def run(self, seat: Seat) -> None:
        """Answers frames until the client closes or leaves, or the session ends."""
        while (event := await self._next())["type"] != "websocket.disconnect":
            try:
                request = parse_request(_text(event))
            except InvalidRequest as error:
                await self.answer(error_reply(error))
                continue
            if request.op == "close":
                return
            outcome = seat.serve(request)
            reply = outcome if isinstance(outcome, Reply) else await self.unless_gone(outcome)
            await self.answer(reply)
            if reply.ends_session:
                return

    async def answer(self, reply: Reply) -> None:
        """Sends a reply."""
        await self._send({"type": "websocket.send", "text": reply.frame()})

    async def cut_off(self, error: SessionError) -> None:
        """Tells the client that the server ended its session."""
        with suppress(OSError):
            await self.answer(error_reply(error))
            await self.end()

    async def end(self) -> None:
        """Closes the socket normally."""
        if self._ahead is not None:
            self._ahead.cancel()
        with suppress(OSError, RuntimeError):  # closed already
            await self._send({"type": "websocket.close", "code": 1000})

    async def unless_gone(self, work: Awaitable[ResultT]) -> ResultT:
        """The result of some work, which is cancelled if the client leaves meanwhile.

        Raises:
            ClientGoneError: it left.
        """
        task = asyncio.current_task()
        if self._ahead is None:
            self._ahead = asyncio.ensure_future(_event(self._receive))

        def look(ahead: asyncio.Task[Event]) -> None:
            left = ahead.cancelled() or ahead.result()["type"] == "websocket.disconnect"
            if left and task is not None:
                self._gone = True
                task.cancel()

        self._ahead.add_done_callback(look)
        try:
            return await work
        except asyncio.CancelledError:
            if self._gone:
                raise ClientGoneError from None
            raise
        finally:
            if self._ahead is not None:
                self._ahead.remove_done_callback(look)

    async def _next(self) -> Event:
        if self._ahead is None:
            return await self._receive()
        event, self._ahead = await self._ahead, None
        return event


def _text(event: Event) -> str:
    text: str | None = event.get("text")
    if text is None:
        raise InvalidRequest(
            f"a binary frame of {len(event['bytes'])} bytes is no message here; send JSON as text",
            code="INVALID_JSON",
        )
    return text


async def _event(receive: Receive) -> Event:
    return await receive()


def _wait_s(scope: Scope) -> float:
    """The seconds that a client is ready to queue, from `?wait_s=`; 0 if it does not say."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    try:
        wait_s = float(query.get("wait_s", ["0"])[0])
    except ValueError:
        return 0.0
    return wait_s if 0 < wait_s < math.inf else 0.0
