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
from openenv.project.page.relay import shown_by, unreachable
from openenv.protocol.envelope import V1
from openenv.protocol.errors import ConnectFailed
from openenv.server.asgi import Event, Receive, Scope, Send
from openenv.server.guard import answer, refuse

GOODBYE_S = 2.0
"""How long the server elsewhere may take to say goodbye."""
SILENCE_S = 60.0
"""How long it may leave a ping unanswered: others than ours do while a step runs."""
_FAILURES = (OSError, ValueError, WebSocketException, ConnectFailed, asyncio.TimeoutError)
"""How a connection may come to nothing; Python 3.10 has two kinds of `TimeoutError`."""


class SocketRelay:
    """Passes messages both ways, as fast as the slower side takes them, until one of them ends.

    Args:
        endpoint: where on the server elsewhere.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one socket of the page."""
        await receive()
        at = shown_by(self._endpoint, scope)
        try:
            server = await _connected(at, scope)
        except _FAILURES as error:
            return await refuse(scope, receive, send, _refusal(at, error), "refused there")
        async with server:
            await _carry(server, scope, receive, send)
        return None


def _refusal(at: Endpoint, error: Exception) -> Response:
    """What the server elsewhere says to a handshake, or that there is none."""
    said = error.response if isinstance(error, InvalidStatus) else None
    if said is None or said.status_code < 400:  # a redirect: it leads where nobody asked to go
        return answer(502, "CONNECTION_ERROR", str(unreachable(at, error)))
    media_type = said.headers.get("Content-Type", "text/plain")
    return Response(bytes(said.body or b""), said.status_code, media_type=media_type)


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


async def _carry(server: ClientConnection, scope: Scope, receive: Receive, send: Send) -> None:
    v1 = V1 if V1 in scope["subprotocols"] else None
    await send({"type": "websocket.accept", "subprotocol": server.subprotocol or v1})
    up = asyncio.ensure_future(_pass_up(server, receive))
    down = asyncio.ensure_future(_pass_down(server, send))
    try:
        await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
    finally:
        up.cancel()
        down.cancel()
        await asyncio.gather(up, down, return_exceptions=True)


async def _pass_up(server: ClientConnection, receive: Receive) -> None:
    """What the page says, until it leaves or the server elsewhere has."""
    while (event := await receive())["type"] != "websocket.disconnect":
        text: str | None = event.get("text")
        try:
            await server.send(event["bytes"] if text is None else text)
        except ConnectionClosed:
            await server.wait_closed()
            return


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
