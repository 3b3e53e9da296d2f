"""Link: the server's end of the socket to a session's process."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from openenv.protocol.errors import HostCrashed
from openenv.protocol.messages import Emit, Reply
from openenv.runtime.pipe import HEADER, KINDS, MAX_ANSWER_BYTES, is_object, sized

EVENT = KINDS.index("event")
MAX_EVENTS = 10_000
"""Events of one call that are passed on; what comes after is dropped."""
MAX_EVENT_BYTES = 64 * 1024
"""The largest event that is passed on."""


class Link(asyncio.Protocol):
    """One question at a time, each with one answer.

    What crosses is JSON or MessagePack, as on the client's own road, never pickles of the child's:
    an environment gone bad can lie about its own observations and do nothing else to the server.

    Attributes:
        child_end: what the child is given; closed here by `open`.
    """

    def __init__(self) -> None:
        self._own_end, self.child_end = socket.socketpair()
        self._transport: Any = None
        self._opening: asyncio.Future[Any] | None = None
        self._received = bytearray()
        self._awaited: asyncio.Future[Reply] | None = None
        self._emit: Emit | None = None
        self._events = 0
        self._broken = False
        self._unasked = 0
        self._leaving = False

    async def open(self) -> None:
        """Begins to read. The child has its end by now."""
        self.child_end.close()
        self._own_end.setblocking(False)
        connect = asyncio.get_running_loop().create_unix_connection
        self._opening = asyncio.ensure_future(connect(lambda: self, sock=self._own_end))
        await asyncio.shield(self._opening)  # half a connection would leave a stray descriptor

    def connection_made(self, transport: Any) -> None:  # uvloop's are none of asyncio's classes
        """The loop reads."""
        self._transport = transport

    def tell(self, word: bytes) -> None:
        """Says something that has no answer."""
        if not (self._broken or self._transport is None or self._transport.is_closing()):
            self._transport.write(sized(word))

    def ask(self, question: bytes, emit: Emit | None = None) -> asyncio.Future[Reply]:
        """The answer, when it comes; `emit` takes the events that come before.

        Raises:
            ConnectionError: when awaited: the child is gone.
            HostCrashed: when awaited: it sent something that is no answer.
        """
        self._awaited = answer = asyncio.get_running_loop().create_future()
        self._emit, self._events = emit, 0
        if self._unasked:
            answer.set_exception(_nonsense())
        elif self._broken or self._transport is None:
            answer.set_exception(ConnectionError("the process is gone"))
        else:
            self._transport.write(sized(question))
        return answer

    def data_received(self, data: bytes) -> None:
        """A part of an answer; what nobody has asked for stays where it is."""
        if self._awaited is None or self._awaited.done():
            self._unasked += len(data)
            if not self._leaving:
                self._transport.pause_reading()
            elif self._unasked > MAX_ANSWER_BYTES:
                self._transport.abort()
            return
        self._received += data
        while len(self._received) >= HEADER.size and self._settle(self._awaited, self._received):
            pass

    def connection_lost(self, exc: Exception | None) -> None:
        """The child has closed its end, most likely by dying."""
        self._broken = True
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(ConnectionError("the process is gone"))

    async def say_goodbye(self) -> None:
        """Asks nothing more, which lets the child close its environment and end.

        An answer that it may still give is let go.
        """
        if self._opening is None:
            return self.close()
        await self._opening
        if not self._transport.is_closing():
            self._leaving = True
            self._transport.resume_reading()
            self._transport.write_eof()
        return None

    def close(self) -> None:
        """Gives up the socket."""
        if self._opening is None:
            self.child_end.close()
            self._own_end.close()
        if self._transport is not None:
            self._transport.abort()

    def _settle(self, answer: asyncio.Future[Reply], received: bytearray) -> bool:
        """Gives the answer to whom it is for, once it is complete, or says if it was an event."""
        kind, binary, size = HEADER.unpack_from(received)
        end = HEADER.size + size
        is_event = kind == EVENT and self._emit is not None
        if kind >= len(KINDS) or size > MAX_ANSWER_BYTES or (len(received) > end and not is_event):
            answer.set_exception(_nonsense())
        elif is_event and len(received) >= end:
            self._pass_on(bytes(received[HEADER.size : end]))
            del received[:end]
            return True
        elif len(received) == end:
            self._received = bytearray()
            answer.set_result(Reply(KINDS[kind], bytes(received[HEADER.size :]), binary=binary))
        return False

    def _pass_on(self, event: bytes) -> None:
        self._events += 1
        bounded = self._events <= MAX_EVENTS and len(event) <= MAX_EVENT_BYTES
        if self._emit is not None and bounded and is_object(Reply("event", event)):
            self._emit(event)


def _nonsense() -> HostCrashed:
    return HostCrashed("it sent something that is no answer")
