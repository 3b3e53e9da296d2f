"""The one load generator for every server: a WebSocket client of a few lines, in its own process.

It speaks just enough of RFC 6455 (and of protocol v1) to keep a server busy, so that what it costs
is small, and the same for each contestant. Frames are masked with the zero key, which is allowed
and means the payload is sent as it is.

It is told what to do line by line on stdin and answers each line with one line of JSON:

    open N           open N more sessions one after another, each with a reset; seconds for each
    run SECONDS N    every one of the first N sessions steps in a closed loop for that long
    close            say goodbye on all sessions
"""

import asyncio
import json
import sys
import time
from typing import Any

TEXT, CLOSE, PING, PONG = 0x81, 0x88, 0x89, 0x8A
RESET = b'{"type":"reset"}'
STEP = b'{"type":"step","data":{"message":"hello","n":1}}'
REFUSED = b'"type":"error"'
HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def masked(opcode: int, payload: bytes) -> bytes:
    """A client's frame; the payloads here are all short."""
    return bytes((opcode, 0x80 | len(payload))) + bytes(4) + payload


STEP_FRAME = masked(TEXT, STEP)


class Session(asyncio.Protocol):
    """One session: sends, reads one answer, and in a run goes round and round."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._loop = asyncio.get_running_loop()
        self._buffer = b""
        self._upgraded = False
        self._closing = False
        self._answer: asyncio.Future[bytes] = self._loop.create_future()
        self._deadline = 0.0
        self._sent_at = 0.0
        self.latencies: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(HANDSHAKE.format(port=self._port).encode())

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closing and not self._answer.done():
            self._answer.set_exception(ConnectionError(f"the server hung up: {exc}"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._upgraded:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            self._upgraded = True
            self._buffer = rest
            self._finish(head)
        while (frame := self._next_frame()) is not None:
            self._receive(*frame)

    def _next_frame(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1], 2
        if size == 126:
            size, start = int.from_bytes(buffer[2:4], "big"), 4
        if len(buffer) < start + size:
            return None
        self._buffer = buffer[start + size :]
        return buffer[0], buffer[start : start + size]

    def _receive(self, opcode: int, payload: bytes) -> None:
        if opcode == PING:
            self.transport.write(masked(PONG, payload))
        elif opcode == TEXT:
            self._answered(payload)

    def _answered(self, payload: bytes) -> None:
        now = time.perf_counter()
        if self._deadline and REFUSED not in payload:
            self.latencies.append(now - self._sent_at)
            if now < self._deadline:
                self._sent_at = now
                self.transport.write(STEP_FRAME)
                return
        self._finish(payload)

    def _finish(self, payload: bytes) -> None:
        if not self._answer.done():
            self._answer.set_result(payload)

    async def answer(self) -> bytes:
        """The next answer, which must not be an error."""
        payload = await self._answer
        self._answer = self._loop.create_future()
        if REFUSED in payload:
            raise RuntimeError(payload.decode())
        return payload

    async def open(self) -> None:
        """Wait for the upgrade, then reset."""
        await self.answer()
        self.transport.write(masked(TEXT, RESET))
        await self.answer()

    async def run(self, deadline: float) -> list[float]:
        """Step until the deadline; the time each step took."""
        self._deadline, self.latencies = deadline, []
        self._sent_at = time.perf_counter()
        self.transport.write(STEP_FRAME)
        await self.answer()
        self._deadline = 0.0
        return self.latencies

    def close(self) -> None:
        self._closing = True
        self.transport.write(masked(CLOSE, (1000).to_bytes(2, "big")))
        self.transport.close()


async def open_sessions(port: int, count: int, sessions: list[Session]) -> list[float]:
    """Open sessions one after another: seconds from connect to the answer to reset."""
    loop = asyncio.get_running_loop()
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        _, session = await loop.create_connection(lambda: Session(port), "127.0.0.1", port)
        await session.open()
        seconds.append(time.perf_counter() - began)
        sessions.append(session)
    return seconds


async def run(sessions: list[Session], seconds: float) -> dict[str, Any]:
    """Keep every session busy; latencies of all of them together."""
    cpu, began = time.process_time(), time.perf_counter()
    each = await asyncio.gather(*(session.run(began + seconds) for session in sessions))
    wall = time.perf_counter() - began
    return {
        "latencies": [latency for one in each for latency in one],
        "wall_s": wall,
        "client_cpu_s": time.process_time() - cpu,
    }


async def main(port: int) -> None:
    sessions: list[Session] = []
    for line in sys.stdin:
        order, *values = line.split()
        if order == "open":
            answer: Any = await open_sessions(port, int(values[0]), sessions)
        elif order == "run":
            answer = await run(sessions[: int(values[1])], float(values[0]))
        else:
            for session in sessions:
                session.close()
            sessions.clear()
            await asyncio.sleep(0.1)  # let the goodbyes out
            answer = None
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
