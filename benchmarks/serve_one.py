"""Serve one contestant in the foreground: ``serve_one.py KIND PORT SESSIONS``.

Runs under the interpreter of the package it serves; everything is imported late, so that a
contestant pays for its own imports only.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Literal, cast

HOST = "127.0.0.1"
REPLY = '{"type":"observation","data":{"observation":{"echoed":"hello"},"reward":1.0,"done":false}}'


def serve_ours(host_kind: str, port: int, sessions: int) -> None:
    """This package's own `serve`, with the host that is being measured."""
    from bench_env import BenchEnv

    from openenv import serve

    kind = cast("Literal['inline', 'thread', 'process']", host_kind)
    serve(BenchEnv, host=HOST, port=port, host_kind=kind, max_sessions=sessions)


def serve_peer(port: int, sessions: int) -> None:
    """The peer's `create_app` under uvicorn, which is how its packages are served."""
    import uvicorn
    from bench_env import BenchAction, BenchEnv, BenchObservation

    from openenv.core.env_server import create_app

    app = create_app(
        BenchEnv, BenchAction, BenchObservation, env_name="bench", max_concurrent_envs=sessions
    )
    uvicorn.run(app, host=HOST, port=port, log_level="warning")


def serve_websockets(port: int) -> None:
    """The floor: an echo with the websockets library and nothing else."""
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.http11 import Request, Response

    async def echo(connection: ServerConnection) -> None:
        async for frame in connection:
            await connection.send(frame)

    def health(connection: ServerConnection, request: Request) -> Response | None:
        return connection.respond(HTTPStatus.OK, "ok") if request.path == "/health" else None

    async def run() -> None:
        async with serve(echo, HOST, port, process_request=health) as server:
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


def main(kind: str, port: int, sessions: int) -> None:
    """Serve `kind` until the process is told to stop."""
    if kind == "peer":
        serve_peer(port, sessions)
    elif kind == "websockets":
        serve_websockets(port)
    elif kind == "asgi":
        serve_asgi(port)
    else:
        serve_ours(kind, port, sessions)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
