"""Watch mode: a socket on which a trainer looks on at running sessions, and does nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from pydantic_core import from_json

from openenv.protocol.envelope import Frame
from openenv.protocol.errors import InvalidRequest, Json, SessionError
from openenv.protocol.values import encode
from openenv.runtime.audience import MAX_CHOSEN, Audience, Spectator
from openenv.runtime.sessions import Sessions
from openenv.server.asgi import Receive, Scope, Send
from openenv.server.authority import watches
from openenv.server.guard import refuse_watching
from openenv.server.ws import Carrier, accepted

SUBPROTOCOL = "openenv.watch"
LIST_EVERY_S = 1.0
BURST = 32
BURST_EVERY_S = 0.05
"""So many frames are sent in so long, and no more: a browser reads whatever comes, however fast."""
_PASSING = ("idle_s", "since_s")
"""What changes in the list by itself."""


class WatchEndpoint:
    """The ASGI application behind `/web/watch`. Who may call it the `Guard` has said.

    Args:
        sessions: the server's, before the first begins.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._audience = sessions.let_watch()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tells one who looks on, until either side ends it."""
        if not watches(scope):
            return await refuse_watching(scope, receive, send)

        def looking(carrier: Carrier) -> Looking:
            return Looking(self._sessions, self._audience, carrier)

        subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", []) else None
        async with accepted((scope, receive, send), looking, subprotocol) as (talk, client):
            try:
                self._audience.enter(talk.spectator)
            except SessionError as error:
                return talk.refuse(error)
            try:
                while not client.done():
                    talk.look()
                    await asyncio.wait([client], timeout=LIST_EVERY_S)
            finally:
                talk.stop()
                self._audience.leave(talk.spectator)


class Looking:
    """What one spectator is told, no faster than it reads."""

    def __init__(self, sessions: Sessions, audience: Audience, carrier: Carrier) -> None:
        self.spectator = Spectator(self._ring)
        self._sessions = sessions
        self._audience = audience
        self._carrier = carrier
        self._listed: list[Json] | None = None
        self._list: list[Json] | None = None
        self._choked = False
        self._timer: asyncio.TimerHandle | None = None
        self._left = 0
        self._until = 0.0

    def on_frame(self, frame: Frame) -> None:
        """Takes which sessions to look at."""
        try:
            self._audience.choose(self.spectator, _chosen(frame))
        except InvalidRequest as error:
            self.refuse(error)

    def refuse(self, error: SessionError) -> None:
        """Says why not."""
        self._carrier.emit(encode({"type": "error", "error": error.to_data()}).decode())

    def choke(self, on: bool) -> None:
        """The spectator takes nothing more for now, or does again."""
        self._choked = on
        self._carrier.hold(on)
        if not on:
            self._ring()

    def look(self) -> None:
        """Tells of all sessions, if something has changed."""
        sessions = self._sessions.watched()
        gist = [{k: v for k, v in each.items() if k not in _PASSING} for each in sessions]
        if gist != self._listed:
            self._listed, self._list = gist, sessions
            self._ring()

    def stop(self) -> None:
        """Says no more."""
        self._choked = True
        if self._timer is not None:
            self._timer.cancel()

    def _ring(self) -> None:
        if self._timer is None:  # those who play are answered first
            self._timer = asyncio.get_running_loop().call_later(0, self._tell)

    def _tell(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        if loop.time() >= self._until:
            self._left, self._until = BURST, loop.time() + BURST_EVERY_S
        while not self._choked and self._left > 0:
            frame = self._next()
            if frame is None:
                return
            self._left -= 1
            self._carrier.emit(frame)
        if not self._choked:
            self._timer = loop.call_at(self._until, self._tell)

    def _next(self) -> str | None:
        sessions, self._list = self._list, None
        if sessions is not None:
            return msgspec.json.encode({"type": "sessions", "sessions": sessions}).decode()
        told = self.spectator.next()
        if told is None or isinstance(told, dict):
            return None if told is None else encode(told).decode()
        return told.frame


def _chosen(frame: Frame) -> list[str]:
    """The sessions that a spectator names.

    Raises:
        InvalidRequest: it says something else.
    """
    try:
        asked: Any = from_json(frame)
    except (ValueError, TypeError):
        asked = None
    chosen = asked.get("watch") if isinstance(asked, dict) else None
    if not isinstance(chosen, list) or not all(isinstance(alias, str) for alias in chosen):
        raise InvalidRequest('say which sessions to look at: {"watch": ["s1", "s2"]}', errors=[])
    if len(chosen) > MAX_CHOSEN:
        raise InvalidRequest(
            f"at most {MAX_CHOSEN} sessions can be looked at, got {len(chosen)}", errors=[]
        )
    return chosen
