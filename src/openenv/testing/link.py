"""Link: one connection through the proxy, and what is done to it on the way."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import Any

from openenv.testing.fates import PASS, Fates
from openenv.testing.frames import CONTINUATION, Cutter, Piece

CHUNK_BYTES = 64 * 1024
LAST_BYTES_S = 1.0
"""How long the last bytes before an end may take to be read."""


class Stream:
    """One end of a link; what is written waits for the socket and nowhere else."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=0)

    async def write(self, data: bytes) -> None:
        """Hands bytes to the socket."""
        self._writer.write(data)
        await self._writer.drain()

    def end(self) -> None:
        """Says that no more will come (FIN)."""
        if not self._writer.transport.is_closing():
            with contextlib.suppress(OSError):  # it is gone already
                self._writer.write_eof()

    def reset(self) -> None:
        """Drops the connection with a reset (RST)."""
        connection: Any = self._writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # it is closed already
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.abort()

    def abort(self) -> None:
        """Drops the connection."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """Closes it once what was written has left, or nobody reads it."""
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            await asyncio.wait_for(self._writer.wait_closed(), LAST_BYTES_S)


class Link:
    """A client's connection and the one that was made for it to the server.

    Args:
        client: the client's end.
        server: the server's end.
        thawed: set while the proxy lets anything through at all.
    """

    def __init__(self, client: Stream, server: Stream, thawed: asyncio.Event) -> None:
        self._client = client
        self._server = server
        self._thawed = thawed
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._pumps: list[asyncio.Task[None]] = []

    async def run(self, to_server: Fates | None = None, to_client: Fates | None = None) -> None:
        """Carries bytes both ways until both have ended; without fates, untouched."""
        self._pumps = [
            asyncio.ensure_future(self._pump(self._client, self._server, to_server)),
            asyncio.ensure_future(self._pump(self._server, self._client, to_client)),
        ]
        for outcome in await asyncio.gather(*self._pumps, return_exceptions=True):
            if isinstance(outcome, Exception):
                raise outcome
        await asyncio.gather(self._client.close(), self._server.close())

    def cut(self, *, reset: bool) -> None:
        """Ends the connection at both ends."""
        for end in (self._client, self._server):
            if reset:
                end.reset()
            else:
                end.end()
        for pump in self._pumps:
            pump.cancel()

    async def flow(self) -> None:
        """Waits while the link, or the whole proxy, is frozen."""
        await self._flowing.wait()
        await self._thawed.wait()

    async def freeze(self, seconds: float | None) -> None:
        """Lets nothing through for a while, or until somebody thaws it."""
        self._flowing.clear()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._flowing.wait(), seconds)
        self.thaw()

    def thaw(self) -> None:
        """Lets everything through again."""
        self._flowing.set()

    async def _pump(self, source: Stream, sink: Stream, fates: Fates | None) -> None:
        lane = None if fates is None else Lane(self, sink, fates)
        try:
            while data := await source.reader.read(CHUNK_BYTES):
                await self.flow()
                await (sink.write(data) if lane is None else lane.carry(data))
            await self.flow()
            if lane is not None:
                await sink.write(lane.rest)
            sink.end()
        except OSError:
            self.cut(reset=True)


class Lane:
    """One direction of a link, frame by frame."""

    def __init__(self, link: Link, sink: Stream, fates: Fates) -> None:
        self._link = link
        self._sink = sink
        self._fates = fates
        self._fate = PASS
        self._cutter = Cutter()
        self._copy = b""
        self._until_cut = 0

    @property
    def rest(self) -> bytes:
        """What has come of a frame's head, where the rest of it has not."""
        return self._cutter.rest

    async def carry(self, data: bytes) -> None:
        """Carries what came, as each frame's fate has it."""
        for piece in self._cutter.cut(data):
            if piece.first:
                self._fate = self._fates.of(piece.head)
                if piece.head.opcode != CONTINUATION:
                    await self._begin(piece.head.length)
            await self._link.flow()
            await self._write(piece)

    async def _begin(self, length: int) -> None:
        """Does what is due before the first byte of a message."""
        fault, seconds, reset = self._fate
        if fault == "delay":
            await asyncio.sleep(seconds or 0.0)
        elif fault == "freeze":
            await self._link.freeze(seconds)
        elif fault == "cut_before":
            await self._cut(reset)
        elif fault == "cut_inside":
            self._until_cut = length // 2

    async def _write(self, piece: Piece) -> None:
        fault, _, reset = self._fate
        if fault in ("swallow", "swallow_pings"):
            return
        if fault == "cut_inside":
            await self._write_half(piece.data, reset)
            return
        await self._sink.write(piece.data)
        if fault == "duplicate":
            await self._write_again(piece)
        elif fault == "cut_after" and piece.ends_message:
            await self._cut(reset)

    async def _write_half(self, data: bytes, reset: bool) -> None:
        await self._sink.write(data[: self._until_cut])
        self._until_cut -= len(data)
        if self._until_cut <= 0:
            await self._cut(reset)

    async def _write_again(self, piece: Piece) -> None:
        self._copy += piece.data
        if piece.last:
            copy, self._copy = self._copy, b""
            await self._sink.write(copy)

    async def _cut(self, reset: bool) -> None:
        """Cuts the link, which also ends this lane's task where it next waits."""
        self._link.cut(reset=reset)
        await asyncio.sleep(0)
