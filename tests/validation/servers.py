"""Servers that break what only a server can break, and how they are served."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from openenv.server.app import create_app
from openenv.server.run import server_for
from tests.serving import PATIENCE_S, eventually
from tests.validation.broken import Sound


@contextmanager
def serving_app(app: Any, host: str = "127.0.0.1") -> Iterator[str]:
    """Serves an ASGI app until the block ends; its URL."""
    with socket.create_server((host, 0)) as listening:
        server = server_for(app, listening)
        thread = threading.Thread(target=server.run, args=([listening],), name="broken-server")
        thread.start()
        try:
            eventually(lambda: server.started or not thread.is_alive())
            yield f"http://{host}:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
    assert not thread.is_alive(), "the server did not end"


def without(path: str) -> Any:
    """A sound app that lacks one of its endpoints."""
    app = create_app(Sound)
    app.router.routes[:] = [route for route in app.router.routes if _path(route) != path]
    for route in app.router.routes:
        included = getattr(getattr(route, "original_router", None), "routes", None)
        if included is not None:
            included[:] = [inner for inner in included if _path(inner) != path]
    return app


def _path(route: Any) -> str | None:
    return getattr(route, "path", None)


class Rude:
    """A sound app that ends sockets in its own way."""

    def __init__(self, **options: Any) -> None:
        self.app = create_app(Sound, **options)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            scope["extensions"] = {}  # so that every frame passes here
            await self.talk(scope, receive, send)
        else:
            await self.http(scope, receive, send)

    async def http(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)

    async def talk(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


class ShutsTheDoor(Rude):
    """Refuses the third connection without a word."""

    open = 0

    async def talk(self, scope: Any, receive: Any, send: Any) -> None:
        self.open += 1
        try:
            if self.open <= 2:
                await self.app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.accept"})
                await send({"type": "websocket.close", "code": 1013})
        finally:
            self.open -= 1


class HangsUp(Rude):
    """Closes the socket without a word when a frame is no JSON object."""

    async def talk(self, scope: Any, receive: Any, send: Any) -> None:
        async def strict() -> Any:
            event = await receive()
            if event["type"] == "websocket.receive" and not _is_object(event.get("text")):
                await send({"type": "websocket.close", "code": 1011})
                return {"type": "websocket.disconnect", "code": 1011}
            return event

        await self.app(scope, strict, send)


class HangsUpPolitely(Rude):
    """Says what is wrong with such a frame, and closes the socket all the same."""

    async def talk(self, scope: Any, receive: Any, send: Any) -> None:
        async def strict() -> Any:
            event = await receive()
            if event["type"] == "websocket.receive" and not _is_object(event.get("text")):
                error = {"type": "error", "data": {"message": "no", "code": "SESSION_ERROR"}}
                await send({"type": "websocket.send", "text": json.dumps(error)})
                await send({"type": "websocket.close", "code": 1000})
                return {"type": "websocket.disconnect", "code": 1000}
            return event

        await self.app(scope, strict, send)


class DiesOfLargeMessages(Rude):
    """Is no longer healthy once a message was too large."""

    ill = False

    async def http(self, scope: Any, receive: Any, send: Any) -> None:
        if self.ill and scope["type"] == "http":
            await send({"type": "http.response.start", "status": 500, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await self.app(scope, receive, send)

    async def talk(self, scope: Any, receive: Any, send: Any) -> None:
        async def watched() -> Any:
            event = await receive()
            self.ill = self.ill or event.get("code") in (1006, 1009)
            return event

        await self.app(scope, watched, send)


def _is_object(text: str | None) -> bool:
    try:
        return text is not None and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
