"""`WS /harness`: a conversation with the agent in an environment; each message is one turn."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from pydantic_core import from_json

from openenv.protocol.envelope import Frame
from openenv.protocol.errors import InvalidRequest, Json, SessionError
from openenv.protocol.messages import Reply, Request, error_reply, parse_object
from openenv.protocol.values import encode
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.asgi import Receive, Scope, Send
from openenv.server.ws import Carrier, Leave, accepted, converse

MAX_BACKLOG = 16
"""Messages that may wait for their turn before the socket is read no further."""


class HarnessSocket:
    """The ASGI application behind `WS /harness`.

    The socket is always accepted, and is one session: the environment is reset, which starts its
    agent. Whatever stands in the way of that is told in the `error` frame of `/ws`.

    Args:
        sessions: the server's.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection until either side ends it."""
        async with accepted((scope, receive, send), TurnTalk) as (talk, client):
            try:
                await converse(talk, client, self._open())
            finally:
                talk.finish()

    async def _open(self) -> tuple[Seat, Leave]:
        seat = await self._sessions.open(attached=True)
        return seat, seat.close


class TurnTalk:
    """One client's messages, and what the agent does with each, in order.

    Args:
        carrier: the socket.

    Attributes:
        over: done when there is nothing more to say.
    """

    def __init__(self, carrier: Carrier) -> None:
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._carrier = carrier
        self._waiting: deque[Frame] = deque()
        self._came = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._choked = False
        self._held = False

    def begin(self, seat: Seat) -> None:
        """The session is there: starts its agent, then takes what has come meanwhile."""
        seat.on_close(self.cut_off)
        self._work = asyncio.ensure_future(self._serve(seat))

    def on_frame(self, frame: Frame) -> None:
        """Keeps a frame until its turn; after the end it is for nobody."""
        if not self.over.done():
            self._waiting.append(frame)
            self._came.set()
            self._pace()

    def choke(self, on: bool) -> None:
        """The client takes no more frames for now, or does again."""
        self._choked = on
        self._pace()

    def cut_off(self, error: SessionError) -> None:
        """Tells the client that there is no session (any more)."""
        self._end_with(error_reply(error))

    def finish(self) -> None:
        """Says no more."""
        self._waiting.clear()
        if self._work is not None and self._work is not asyncio.current_task():
            self._work.cancel()
        if not self.over.done():
            self.over.set_result(None)

    async def _serve(self, seat: Seat) -> None:
        started = await seat.ask(Request("reset"))
        if started.type == "error":
            return self._end_with(started)
        named: object = _metadata(started).get("harness")
        data = {"session_id": seat.session_id, "harness": named}
        self._say({"type": "session_started", "data": data})
        while not self.over.done():
            await self._came.wait()
            while self._waiting:
                await self._answer(seat, self._waiting.popleft())
                self._pace()
            self._came.clear()
        return None

    async def _answer(self, seat: Seat, frame: Frame) -> None:
        try:
            content = _content(frame)
        except InvalidRequest as error:
            code = "INVALID_JSON" if error.code == "INVALID_JSON" else "VALIDATION_ERROR"
            refused = {"message": error.message, "code": code}
            return self._say({"type": "protocol_error", "data": refused})
        turn = Request("turn", {"message": content}, emit=self._tell)
        self._ended(await seat.ask(turn))
        return None

    def _ended(self, reply: Reply) -> None:
        """The turn is over: says how, and ends the conversation if the episode is over, too."""
        told, metadata = from_json(reply.body), _metadata(reply)
        failed = told.get("message") if reply.type == "error" else metadata.get("error")
        kind, data = "error", {"message": failed, "recoverable": False}
        if failed is None:
            is_done = bool(told.get("done"))
            kind, data = "turn_complete", {"response": metadata.get("response"), "done": is_done}
        self._say({"type": kind, "timestamp": time.time(), "data": data})
        if failed is not None or told.get("done"):
            self.finish()

    def _tell(self, event: bytes) -> None:
        """An event of the running turn is a frame as it is."""
        if not self.over.done():
            self._carrier.emit(event.decode())

    def _say(self, told: Json) -> None:
        self._tell(encode(told))

    def _end_with(self, reply: Reply) -> None:
        self._tell(reply.frame().encode())
        self.finish()

    def _pace(self) -> None:
        wanted = self._choked or len(self._waiting) >= MAX_BACKLOG
        if wanted is not self._held:
            self._held = wanted
            self._carrier.hold(wanted)


def _metadata(reply: Reply) -> Json:
    metadata: Json = from_json(reply.body).get("metadata") or {}
    return metadata


def _content(frame: Frame) -> str:
    """The message in a frame.

    Raises:
        InvalidRequest: there is none; its code is `INVALID_JSON` if the frame is no JSON.
    """
    if isinstance(frame, bytes):
        raise InvalidRequest("a binary frame is no message; send JSON", code="INVALID_JSON")
    said = parse_object(frame)
    content = said.get("content")
    if said.keys() != {"type", "content"} or said["type"] != "message" or type(content) is not str:
        raise InvalidRequest('a message is {"type": "message", "content": "..."}, and nothing else')
    return content
