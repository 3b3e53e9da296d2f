"""`WS /mcp`: JSON-RPC over a socket that is one session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from openenv.protocol.envelope import Frame
from openenv.protocol.errors import Json, SessionError
from openenv.protocol.jsonrpc import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    RpcRefusal,
    read_message,
    read_request,
)
from openenv.protocol.values import encode
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.asgi import Receive, Scope, Send
from openenv.server.mcp.agents import McpMethods, Running
from openenv.server.mcp.answers import Progress, outcome
from openenv.server.mcp.asking import begun
from openenv.server.mcp.methods import Asked, OpenEnvMethods, Table, respond
from openenv.server.mcp.shapes import refused
from openenv.server.ws import Carrier, Leave, accepted, converse

MAX_UNANSWERED = 16
"""Requests without their answers, after which the socket is read no further."""
SUBPROTOCOL = "mcp"


class McpSocket:
    """The ASGI application behind `WS /mcp`.

    The socket is always accepted; whatever stands in the way of its session is told in one
    response without an id, then the socket is closed normally.

    Args:
        sessions: the server's.
        openenv: the methods of OpenEnv's own convention, which a socket begins with.
        mcp: MCP's own, which it goes on with once it was asked to `initialize`.
    """

    def __init__(self, sessions: Sessions, openenv: OpenEnvMethods, mcp: McpMethods) -> None:
        self._sessions = sessions
        self._openenv = openenv
        self._mcp = mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection until either side ends it."""
        chosen = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", []) else None
        async with accepted((scope, receive, send), self._talk, chosen) as (talk, client):
            try:
                await converse(talk, client, self._open())
            finally:
                talk.finish()

    async def _open(self) -> tuple[Seat, Leave]:
        seat = await begun(self._sessions, attached=True)
        seat.joinable = True
        return seat, seat.close

    def _talk(self, carrier: Carrier) -> McpTalk:
        return McpTalk(self._openenv, self._mcp, carrier)


class McpTalk:
    """One client's requests and the responses to them; each is sent when it is there.

    Args:
        openenv: the methods that it begins with.
        mcp: those that it goes on with after `initialize`.
        carrier: the socket.

    Attributes:
        over: done when there is nothing more to say.
    """

    def __init__(self, openenv: OpenEnvMethods, mcp: McpMethods, carrier: Carrier) -> None:
        loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = loop.create_future()
        self._seat: asyncio.Future[Seat] = loop.create_future()
        self._own: Table = {"initialize": self._initialize, "openenv/socket/close": self._close}
        self._table: Table = {**openenv.table, **self._own}
        self._mcp = mcp
        self._carrier = carrier
        self._running = Running()
        self._choked = False
        self._held = False
        self._leaving = False

    def begin(self, seat: Seat) -> None:
        """The session is there: what has come meanwhile is answered, and all that comes."""
        seat.on_close(self.cut_off)
        self._seat.set_result(seat)

    def on_frame(self, frame: Frame) -> None:
        """Begins to answer a request; a notification has no answer."""
        try:
            message = _message(frame)
            request = read_request(message)
        except RpcRefusal as refusal:
            return self._say(refusal.response())
        if "id" not in message and request.method.startswith("notifications/"):
            return self._running.cancel_named(request)
        work = asyncio.ensure_future(self._answer(request))
        self._running.keep(request.id, work)
        work.add_done_callback(lambda done: self._answered(request, done))
        return self._pace()

    def choke(self, on: bool) -> None:
        """The client takes no more responses for now, or does again."""
        self._choked = on
        self._pace()

    def cut_off(self, error: SessionError) -> None:
        """Tells the client that there is no session (any more)."""
        self._say(refused(error).response())
        self.finish()

    def finish(self) -> None:
        """Says no more."""
        self._running.cancel_all()
        self._seat.cancel()
        if not self.over.done():
            self.over.set_result(None)

    async def _answer(self, request: JsonRpcRequest) -> Json:
        seat = await asyncio.shield(self._seat)
        asked = Asked(request.params, seat, on_socket=True, emit=self._emit_for(request))
        return await respond(self._table, request, asked)

    async def _initialize(self, asked: Asked) -> Json:
        welcome = self._mcp.welcome(asked.params)
        self._table = {**self._mcp.table, **self._own}
        return welcome

    async def _close(self, asked: Asked) -> Json:
        """Closes the environment, then the socket: who reads the answer knows its slot free."""
        await (await self._seat).close()
        self._leaving = True
        return {"closed": True}

    def _emit_for(self, request: JsonRpcRequest) -> Callable[[bytes], None] | None:
        progress = Progress.asked_for(request)
        return None if progress is None else lambda report: self._report(progress.notice(report))

    def _report(self, notice: Json) -> None:
        """Tells of progress, unless the client is too slow to be told."""
        if not self._choked:
            self._say(notice)

    def _answered(self, request: JsonRpcRequest, work: asyncio.Future[Any]) -> None:
        self._say(outcome(work, request.id))
        if self._leaving:
            self.finish()
        self._pace()

    def _say(self, told: Json) -> None:
        if not self.over.done():
            self._carrier.emit(encode(told).decode())

    def _pace(self) -> None:
        wanted = self._choked or len(self._running) >= MAX_UNANSWERED
        if wanted is not self._held:
            self._held = wanted
            self._carrier.hold(wanted)


def _message(frame: Frame) -> Json:
    if isinstance(frame, bytes):
        raise RpcRefusal(
            JsonRpcErrorCode.PARSE_ERROR,
            f"Parse error: a binary frame of {len(frame)} bytes; send JSON as text",
        )
    return read_message(frame)
