"""The floors: servers that do no work, one for each layer that a real one stands on.

Each answers `GET /health`, and every message of a socket opened at `/ws?in=N&out=M` with M bytes:
the size of what the measured server answers, so that the same bytes move both ways.
"""

import asyncio
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from dialects import BINARY, head

HOST = "127.0.0.1"
HEALTHY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
UPGRADED = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=\r\n\r\n"
)
REPLY = '{"type":"observation","data":{"observation":{"echoed":"hello"},"reward":1.0,"done":false}}'
MAX_BYTES = 16 * 2**20


def sizes(path: str) -> tuple[int, int]:
    """The bytes in and out that a client asks for."""
    query = parse_qs(urlsplit(path).query)
    return int(query.get("in", ["0"])[0]), int(query.get("out", ["0"])[0])


class Counter(asyncio.Protocol):
    """Sockets and nothing above them: bytes are counted, and a prepared frame is sent back."""

    def __init__(self) -> None:
        self._upgraded = False
        self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if not self._upgraded:
            return self._greet(data.split(b" ")[1].decode())
        self._missing -= len(data)
        if self._missing <= 0:
            self._missing += self._bytes_in
            self._transport.write(self._reply)
        return None

    def _greet(self, path: str) -> None:
        if path == "/health":
            self._transport.write(HEALTHY)
            return self._transport.close()
        self._bytes_in, bytes_out = sizes(path)
        self._missing, self._upgraded = self._bytes_in, True
        self._reply = head(BINARY, bytes_out) + b"." * bytes_out
        return self._transport.write(UPGRADED)


def serve_tcp(port: int) -> None:
    """What uvloop alone costs."""
    import uvloop

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Counter, HOST, port, backlog=2048)
        await server.serve_forever()

    uvloop.install()
    asyncio.run(run())


def serve_picows(port: int) -> None:
    """What the picows library on uvloop costs."""
    import uvloop
    from picows import (
        WSFrame,
        WSListener,
        WSMsgType,
        WSTransport,
        WSUpgradeRequest,
        WSUpgradeResponse,
        WSUpgradeResponseWithListener,
        ws_create_server,
    )

    class Answerer(WSListener):
        def __init__(self, bytes_out: int) -> None:
            self._reply = b"." * bytes_out

        def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
            if frame.msg_type == WSMsgType.CLOSE:
                transport.disconnect()
            else:
                transport.send(WSMsgType.BINARY, self._reply)

    def listener(request: WSUpgradeRequest) -> Any:
        path = request.path.decode()
        if path == "/health":
            response = WSUpgradeResponse.create_ok_response(b"ok")
            return WSUpgradeResponseWithListener(response, None)
        return Answerer(sizes(path)[1])

    async def run() -> None:
        server = await ws_create_server(
            listener, HOST, port, backlog=2048, max_frame_size=MAX_BYTES
        )
        await server.serve_forever()

    uvloop.install()
    asyncio.run(run())


def serve_websockets(port: int) -> None:
    """What the websockets library costs."""
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.http11 import Request, Response

    async def answer(connection: ServerConnection) -> None:
        assert connection.request is not None
        reply = b"." * sizes(connection.request.path)[1]
        async for frame in connection:
            await connection.send(reply or frame)

    def health(connection: ServerConnection, request: Request) -> Response | None:
        return connection.respond(HTTPStatus.OK, "ok") if request.path == "/health" else None

    async def run() -> None:
        async with serve(
            answer, HOST, port, process_request=health, compression=None, max_size=MAX_BYTES
        ) as server:
            await server.serve_forever()

    asyncio.run(run())


async def raw_app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """A bare ASGI application: a fixed answer to every frame."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        await send({"type": "websocket.send", "text": REPLY})


def serve_asgi(port: int) -> None:
    """What uvicorn alone costs."""
    import uvicorn

    uvicorn.run(raw_app, host=HOST, port=port, log_level="warning", lifespan="off")


FLOORS = {
    "tcp": serve_tcp,
    "picows": serve_picows,
    "websockets": serve_websockets,
    "asgi": serve_asgi,
}
