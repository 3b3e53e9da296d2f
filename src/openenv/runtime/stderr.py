"""What a child process prints: shown as it comes, and its end remembered."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from contextlib import suppress

TAIL_BYTES = 4096
LAST_WORDS_S = 1.0


class Stderr(asyncio.Protocol):
    """A pipe of our own: a process that outlives the child may hold it open, but not us.

    Attributes:
        child_end: what the child is given as its stderr.
    """

    def __init__(self) -> None:
        self._own_end, self.child_end = os.pipe()
        self._chunks: deque[bytes] = deque(maxlen=64)
        self._transport: asyncio.ReadTransport | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._opening: asyncio.Future[None] | None = None
        self._discarded = False

    async def open(self) -> None:
        """Begins to read. The child has its end by now."""
        os.close(self.child_end)
        self._opening = asyncio.ensure_future(self._connect())
        await asyncio.shield(self._opening)  # half a connection would leave a stray descriptor

    async def _connect(self) -> None:
        pipe = os.fdopen(self._own_end, "rb", buffering=0)
        connect = asyncio.get_running_loop().connect_read_pipe
        self._transport, _ = await connect(lambda: self, pipe)

    def _discard(self) -> None:
        """There never was a child."""
        if not self._discarded:
            self._discarded = True
            os.close(self._own_end)
            os.close(self.child_end)

    def data_received(self, data: bytes) -> None:
        """Shows what was printed."""
        self._chunks.append(data)
        with suppress(OSError, ValueError):  # our own stderr may be closed
            sys.stderr.write(data.decode(errors="replace"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody holds the other end any more."""
        self._ended.set_result(None)

    @property
    def tail(self) -> str:
        """The end of what was printed."""
        return b"".join(self._chunks)[-TAIL_BYTES:].decode(errors="replace")

    async def close(self) -> None:
        """Reads the last of what a dead child has printed."""
        if self._opening is None:
            self._discard()
        else:
            await self._opening
        if self._transport is not None:
            await asyncio.wait([self._ended], timeout=LAST_WORDS_S)
            self._transport.close()
