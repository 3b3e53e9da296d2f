"""Conversation: frames in, frames out, in order, one call at a time. It does no I/O."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from openenv.protocol.errors import InvalidRequest, SessionError
from openenv.protocol.messages import Reply, error_reply, parse_request
from openenv.runtime.seat import Seat
from openenv.server.authority import control_closed
from openenv.server.mcp import frames
from openenv.server.mcp.methods import OpenEnvMethods

Frame = str | bytes
MAX_BACKLOG = 16
"""Frames that may wait for their turn before the socket is read no further."""


class Conversation:
    """One client's requests and the replies to them.

    Args:
        emit: sends a frame.
        hold: stops (`True`) or goes on (`False`) reading from the client.
        tools: what answers `mcp` frames.
        control: the client may control the episode, not only call tools.

    Attributes:
        over: done when there is nothing more to say.
    """

    def __init__(
        self,
        emit: Callable[[str], None],
        hold: Callable[[bool], None],
        tools: OpenEnvMethods,
        *,
        control: bool = True,
    ) -> None:
        self._emit = emit
        self._hold = hold
        self._tools = tools
        self._control = control
        self._asking: asyncio.Task[Reply] | None = None
        self._seat: Seat | None = None
        self._busy = False
        self._choked = False
        self._held = False
        self._backlog: deque[Frame] = deque()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def begin(self, seat: Seat) -> None:
        """The session is there: answers what has come meanwhile, and all that comes."""
        self._seat = seat
        seat.on_close(self.cut_off)
        self._catch_up()

    def on_frame(self, frame: Frame) -> None:
        """Answers a frame, or keeps it until its turn; after the end it is for nobody."""
        if self.over.done():
            return
        seat = self._seat
        if self._busy or self._choked or seat is None or self._backlog:
            self._backlog.append(frame)
            if len(self._backlog) >= MAX_BACKLOG and not self._held:
                self._held = True
                self._hold(True)
        else:
            self._answer(seat, frame)

    def choke(self, on: bool) -> None:
        """The client takes no more replies for now, or does again."""
        self._choked = on
        if not on:
            self._catch_up()

    def cut_off(self, error: SessionError) -> None:
        """Tells the client that the server has ended its session."""
        self._say(error_reply(error, ends_session=True))

    def _answer(self, seat: Seat, frame: Frame) -> None:
        try:
            request = parse_request(_text(frame))
        except InvalidRequest as error:
            return self._say(error_reply(error))
        if request.op == "close":
            return self._finish()
        if not self._control and request.op != "mcp":
            return self._say(error_reply(control_closed()))
        self._busy = True
        if request.op == "mcp":
            self._ask(frames.answer(self._tools, seat, request.data))
        else:
            seat.serve(request, self._say_and_go_on)
        return None

    def _ask(self, asking: Coroutine[Any, Any, Reply]) -> None:
        self._asking = asyncio.ensure_future(asking)
        self._asking.add_done_callback(self._asked)

    def _asked(self, asking: asyncio.Future[Reply]) -> None:
        self._asking = None
        if not asking.cancelled():
            self._say_and_go_on(asking.result())

    def _say_and_go_on(self, reply: Reply) -> None:
        self._busy = False
        self._say(reply)
        if self._backlog:
            asyncio.get_running_loop().call_soon(self._catch_up)

    def _catch_up(self) -> None:
        while self._backlog and not (self._busy or self._choked) and self._seat is not None:
            self._answer(self._seat, self._backlog.popleft())
        if self._held and len(self._backlog) < MAX_BACKLOG // 2:
            self._held = False
            self._hold(False)

    def _say(self, reply: Reply) -> None:
        if self.over.done():
            return
        self._emit(reply.frame())
        if reply.ends_session:
            self._finish()

    def _finish(self) -> None:
        self._backlog.clear()
        if self._asking is not None:
            self._asking.cancel()
        if not self.over.done():
            self.over.set_result(None)


def _text(frame: Frame) -> str:
    if isinstance(frame, bytes):
        raise InvalidRequest(
            f"a binary frame of {len(frame)} bytes is no message here; send JSON as text",
            code="INVALID_JSON",
        )
    return frame
