"""Who looks at the shared episode: sockets that are told where it stands, whenever it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

MOST_VIEWERS = 64
_TRY_AGAIN_LATER = 1013


class Viewers:
    """Sends every viewer the newest frame; whoever is slow misses those in between.

    Args:
        frame: writes the newest one.

    Attributes:
        sockets: the viewers'.
    """

    def __init__(self, frame: Callable[[], str]) -> None:
        self.sockets: list[WebSocket] = []
        self._write = frame
        self._frame: str | None = None
        self._telling: dict[WebSocket, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    async def connect(self, socket: WebSocket) -> bool:
        """Accepts a socket and tells it everything from now on.

        Returns:
            Whether there was room for it.
        """
        if len(self.sockets) >= MOST_VIEWERS:
            await socket.close(_TRY_AGAIN_LATER)
            return False
        self.sockets.append(socket)
        try:
            offered = socket.scope.get("subprotocols")
            await socket.accept(offered[0] if offered else None)  # browsers want one of them named
        except BaseException:
            self.sockets.remove(socket)
            raise
        news = asyncio.Event()
        news.set()
        self._telling[socket] = news, asyncio.ensure_future(self._tell(socket, news))
        return True

    async def disconnect(self, socket: WebSocket) -> None:
        """Tells a socket nothing more."""
        if socket in self.sockets:
            self.sockets.remove(socket)
        _, telling = self._telling.pop(socket, (None, None))
        if telling is not None:
            telling.cancel()
            await asyncio.wait([telling])

    def changed(self) -> None:
        """There is something new to tell."""
        self._frame = None
        for news, _ in self._telling.values():
            news.set()

    async def _tell(self, socket: WebSocket, news: asyncio.Event) -> None:
        with suppress(OSError, RuntimeError, WebSocketDisconnect):  # it may leave at any time
            while True:
                await news.wait()
                news.clear()
                if self._frame is None:
                    self._frame = self._write()
                await socket.send_text(self._frame)
