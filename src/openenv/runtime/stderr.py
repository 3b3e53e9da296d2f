"""What a child process prints: shown as it comes, and its end remembered."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Any

TAIL_BYTES = 4096
LAST_WORDS_S = 1.0
BURST_BYTES = 4 << 20
BURST_S = 1.0
"""Who prints more than so much must wait so long: nobody's prints may keep a server busy."""
SHOWN_BYTES = 1 << 20
"""What is shown of it, at most: nobody's prints may fill the disk that a server's log is on."""


class Stderr(asyncio.Protocol):
    """A pipe of our own: a process that outlives the child may hold it open, but not us.

    Args:
        whose: the child, for people.

    Attributes:
        child_end: what the child is given as its stderr.
    """

    def __init__(self, whose: str) -> None:
        self._whose = whose
        self._shown = 0
        self._own_end, self.child_end = os.pipe()
        self._tail = b""
        self._transport: Any = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._opening: asyncio.Future[None] | None = None
        self._discarded = False
        self._burst = 0
        self._pause: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Begins to read. The child has its end by now."""
        os.close(self.child_end)
        self._opening = asyncio.ensure_future(self._connect())
        await asyncio.shield(self._opening)  # half a connection would leave a stray descriptor

    async def _connect(self) -> None:
        pipe = os.fdopen(self._own_end, "rb", buffering=0)
        connect = asyncio.get_running_loop().connect_read_pipe
        await connect(lambda: self, pipe)

    def connection_made(self, transport: Any) -> None:  # uvloop's are none of asyncio's classes
        """The loop reads."""
        self._transport = transport

    def _go_on(self) -> None:
        self._pause, self._burst = None, 0
        if not self._ended.done():
            self._transport.resume_reading()

    def _discard(self) -> None:
        """There never was a child."""
        if not self._discarded:
            self._discarded = True
            os.close(self._own_end)
            os.close(self.child_end)

    def data_received(self, data: bytes) -> None:
        """Shows what was printed, up to a limit."""
        self._tail = (self._tail + data)[-TAIL_BYTES:]
        self._burst += len(data)
        if self._burst > BURST_BYTES and self._pause is None:
            self._transport.pause_reading()
            self._pause = asyncio.get_running_loop().call_later(BURST_S, self._go_on)
        if self._shown <= SHOWN_BYTES:
            self._show(data)

    def _show(self, data: bytes) -> None:
        text = data[: SHOWN_BYTES - self._shown].decode(errors="replace")
        self._shown += len(data)
        if self._shown > SHOWN_BYTES:
            text += f"\nopenenv: … more output of {self._whose} is dropped\n"
        with suppress(OSError, ValueError):  # our own stderr may be closed
            sys.stderr.write(text)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody holds the other end any more."""
        self._ended.set_result(None)

    @property
    def tail(self) -> str:
        """The end of what was printed."""
        return self._tail.decode(errors="replace")

    async def close(self) -> None:
        """Reads the last of what a dead child has printed."""
        if self._opening is None:
            self._discard()
        else:
            await self._opening
        if self._transport is not None:
            if self._pause is not None:
                self._pause.cancel()
                self._go_on()
            await asyncio.wait([self._ended], timeout=LAST_WORDS_S)
        self.let_go()

    def let_go(self) -> None:
        """Reads no more."""
        if self._transport is not None:
            self._transport.close()
