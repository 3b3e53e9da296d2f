"""WebSockets of the page, passed on to a server elsewhere."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import EXTERNAL_CLOSE_CODES, CloseCode
from websockets.typing import Subprotocol

from openenv.client.endpoint import Endpoint
from openenv.project.page.relay import JSON, Answer, is_answer, unreachable
from openenv.project.page.shown import Shown
from openenv.protocol.envelope import V1, Frame
from openenv.protocol.errors import ConnectFailed
from openenv.server.asgi import Event, Receive, Scope, Send
from openenv.server.guard import answer, refuse
from openenv.server.ws import Carrier, Connection, accepted

GOODBYE_S = 2.0
"""How long the server elsewhere may take to say goodbye."""
SILENCE_S = 60.0
"""How long it may leave a ping unanswered, or take nothing of a message that it is sent: others
than ours do while a step runs."""
AHEAD = 1 << 20
"""How much of what the page says is read before the server elsewhere takes it, in bytes; about."""
_FAILURES = (OSError, ValueError, WebSocketException, ConnectFailed, asyncio.TimeoutError)
"""How a connection may come to nothing; Python 3.10 has two kinds of `TimeoutError`."""


class SocketRelay:
    """Passes messages both ways, as fast as the slower side takes them, until one of them ends.

    Args:
        endpoint: where on the server elsewhere.
        shown: what that server is shown.
    """

    def __init__(self, endpoint: Endpoint, shown: Shown) -> None:
        self._endpoint = endpoint
        self._shown = shown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one socket of the page."""
        at = self._shown.by(scope, self._endpoint)
        try:
            server = await _connected(at, scope)
        except _FAILURES as error:
            return await refuse(scope, receive, send, _refusal(at, error), "refused there")
        try:
            await _carry(server, (scope, receive, send))
        finally:
            await _leave(server)
        return None


def _refusal(at: Endpoint, error: Exception) -> Response:
    """What the server elsewhere says to a handshake, or that there is none."""
    said = error.response if isinstance(error, InvalidStatus) else None
    if said is None or not is_answer(said.status_code, JSON) or said.status_code < 400:
        return answer(502, "CONNECTION_ERROR", str(unreachable(at, error)))
    if said.headers.get_all("Content-Type") != [JSON]:  # some proxy's, or a mere end
        return answer(said.status_code, "CONNECTION_ERROR", str(unreachable(at, error)))
    return Answer(said.status_code, bytes(said.body or b"")).response()


async def _leave(server: ClientConnection) -> None:
    """Says goodbye to the server elsewhere, for as long as it listens."""
    try:
        await asyncio.wait_for(server.close(), GOODBYE_S)
    except asyncio.TimeoutError:
        server.transport.abort()


class _Straight(connect):
    """Follows no redirect: where it leads to was not named, and would be shown the token."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Takes a redirect for the refusal that it is."""
        return exc


async def _connected(at: Endpoint, scope: Scope) -> ClientConnection:
    query = scope["query_string"].decode("latin-1")
    url = f"{at.ws_url}{'?' if query else ''}{query}"
    offered = [Subprotocol(name) for name in scope["subprotocols"] if name != V1]
    return await _Straight(
        url,
        subprotocols=offered or None,
        additional_headers=dict(at.headers),
        compression=None,
        proxy=at.proxy,
        open_timeout=at.connect_timeout,
        close_timeout=GOODBYE_S,
        ping_timeout=SILENCE_S,
        max_size=at.max_message_bytes,
    )


async def _carry(server: ClientConnection, connection: Connection) -> None:
    scope, _, send = connection
    v1 = V1 if V1 in scope["subprotocols"] else None
    async with accepted(connection, _Upward, server.subprotocol or v1) as (upward, page):
        page.add_done_callback(lambda _: upward.end())
        up = asyncio.ensure_future(upward.pass_on(server))
        down = asyncio.ensure_future(_pass_down(server, send))
        try:
            await asyncio.wait([page, up, down], return_when=asyncio.FIRST_COMPLETED)
            last_words = up if page.done() else down
            await asyncio.wait([last_words], timeout=GOODBYE_S)
        finally:
            up.cancel()
            down.cancel()
            await asyncio.gather(up, down, return_exceptions=True)
            upward.end()


class _Upward:
    """What the page says, in order; no more of it is read than is soon taken.

    Args:
        carrier: the page's socket.
    """

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._said: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._size = 0
        self._over = False

    def on_frame(self, frame: Frame) -> None:
        """Takes what the page sent."""
        if self._over:
            return
        self._said.put_nowait(frame)
        self._size += len(frame)
        self._carrier.hold(self._size > AHEAD)

    def choke(self, on: bool) -> None:
        """The page reads slowly: sending waits for it by itself."""

    def end(self) -> None:
        """Nothing that follows is passed on; the page is read until its goodbye."""
        self._over = True
        self._said.put_nowait(None)
        self._carrier.hold(False)

    async def pass_on(self, server: ClientConnection) -> None:
        """Passes on all that was said, unless the server elsewhere leaves, or takes nothing."""
        while (frame := await self._said.get()) is not None:
            try:
                await asyncio.wait_for(server.send(frame), SILENCE_S)
            except asyncio.TimeoutError:
                return server.transport.abort()
            except ConnectionClosed:
                return await server.wait_closed()
            self._size -= len(frame)
            self._carrier.hold(self._size > AHEAD)
        return None


async def _pass_down(server: ClientConnection, send: Send) -> None:
    """What the server elsewhere says, and how it ends."""
    try:
        async for message in server:
            form = "text" if isinstance(message, str) else "bytes"
            await send({"type": "websocket.send", form: message})
    except ConnectionClosed:
        pass
    await send(_farewell(server))


def _farewell(server: ClientConnection) -> Event:
    code: Any = server.close_code
    if code in EXTERNAL_CLOSE_CODES or (code is not None and code >= 3000):
        return {"type": "websocket.close", "code": code, "reason": server.close_reason or ""}
    reason = "the server elsewhere is gone"
    return {"type": "websocket.close", "code": CloseCode.BAD_GATEWAY, "reason": reason}
