"""The one load generator for every server: a WebSocket client of a few lines, in its own process.

It speaks just enough of RFC 6455 to keep a server busy, and sends frames that were prepared
(`dialects.py`), so that what it costs is small, and the same for each contestant.

Its argument is the port and, as JSON, what to play. It is told what to do line by line on stdin
and answers each line with one line of JSON:

    open N             open N more sessions one after another, each with a reset; seconds for each
    sizes              one session plays its cycle once: mean bytes of a request and of a reply
    run SECONDS N      each of the first N sessions steps in a closed loop for that long
    pace SECONDS N R   N sessions take R steps a second in all, whenever each of them is due
    close              say goodbye on all sessions
"""

import asyncio
import gc
import itertools
import json
import random
import sys
import time
from collections import deque
from typing import Any, cast

import uvloop
from dialects import BINARY, CLOSE, PING, PONG, TEXT, Script, echoed, masked, spoken

HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Sec-WebSocket-Version: 13\r\n{offer}\r\n"
)


class Session(asyncio.Protocol):
    """One socket: sends, reads one answer, and in a run goes round and round."""

    def __init__(self, port: int, script: Script) -> None:
        self._port = port
        self._script = script
        self._number = script.number
        self._refused = script.refused
        self._cycle = itertools.cycle(script.cycle)
        self._count = 0
        self._buffer = bytearray()
        self._upgraded = False
        self._lost = asyncio.Event()
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._deadline = 0.0
        self._sent_at = 0.0
        self._free: deque[Session] | None = None
        self.latencies: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        wanted = self._script.subprotocol
        offer = f"Sec-WebSocket-Protocol: {wanted}\r\n" if wanted else ""
        greeting = HANDSHAKE.format(path=self._script.path, port=self._port, offer=offer)
        self.transport.write(greeting.encode())

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()
        if not self.transport.is_closing() and not self._answer.done():
            self._answer.set_exception(ConnectionError(f"the server hung up: {exc}"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._upgraded:
            head, found, rest = self._buffer.partition(b"\r\n\r\n")
            if not found:
                return
            self._upgraded = True
            self._buffer = rest
            self._finish(bytes(head))
        while (frame := self._next_frame()) is not None:
            self._receive(*frame)

    def _next_frame(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1], 2
        if size >= 126:
            start = 4 if size == 126 else 10
            size = int.from_bytes(buffer[2:start], "big")
        if len(buffer) < start + size:
            return None
        opcode, payload = buffer[0], bytes(buffer[start : start + size])
        del buffer[: start + size]
        return opcode, payload

    def _receive(self, opcode: int, payload: bytes) -> None:
        if opcode in (TEXT, BINARY):
            self._answered(payload)
        elif opcode == PING:
            self.transport.write(masked(PONG, payload))

    def _answered(self, payload: bytes) -> None:
        if self._deadline and self._refused not in payload:
            now = time.perf_counter()
            self.latencies.append(now - self._sent_at)
            if self._free is not None:
                self._free.append(self)
            elif now < self._deadline:
                self._send(next(self._cycle), now)
            else:
                self._finish(payload)
        else:
            self._finish(payload)

    def _send(self, pieces: Any, now: float) -> None:
        self._count += 1
        self._sent_at = now
        self.transport.write(self._number(self._count).join(pieces))

    def _finish(self, payload: bytes) -> None:
        if not self._answer.done():
            self._answer.set_result(payload)

    async def _next_answer(self) -> bytes:
        """The next answer, which must not be an error."""
        payload = await self._answer
        self._answer = asyncio.get_running_loop().create_future()
        if self._refused in payload:
            at = payload.find(self._refused)
            raise RuntimeError(payload[at : at + 500].decode(errors="replace"))
        return payload

    async def open(self) -> None:
        """Wait for the upgrade, then reset."""
        greeting = await self._next_answer()
        wanted = self._script.subprotocol
        if wanted.encode() not in greeting:
            raise RuntimeError(f"the server speaks no {wanted}: {greeting.decode()}")
        self._send(self._script.opening, 0.0)
        await self._next_answer()

    async def step(self) -> bytes:
        """One step and its answer."""
        self._send(next(self._cycle), 0.0)
        return await self._next_answer()

    async def run(self, deadline: float) -> list[float]:
        """Step until the deadline; the time each step took."""
        self._deadline, self.latencies = deadline, []
        self._send(next(self._cycle), time.perf_counter())
        await self._next_answer()
        self._deadline = 0.0
        return self.latencies

    def pace(self, free: "deque[Session] | None") -> None:
        """Be there for steps that come when they are due, or be so no longer."""
        self._free, self._deadline = free, 0.0 if free is None else 1.0
        if free is not None:
            self.latencies = []
            free.append(self)

    def step_due(self, due: float) -> None:
        """Take the step that was due then; its time counts from there."""
        self._send(next(self._cycle), due)

    async def close(self) -> None:
        """End what the session holds, then say goodbye: v2 would keep it for a client to resume."""
        for pieces in self._script.goodbye:
            self._send(pieces, 0.0)
            await self._next_answer()
        self.transport.write(masked(CLOSE, (1000).to_bytes(2, "big")))
        self.transport.close()
        await self._lost.wait()


async def open_sessions(
    port: int, script: Script, count: int, sessions: list[Session]
) -> list[float]:
    """Open sessions one after another: seconds from connect to the answer to reset."""
    loop = asyncio.get_running_loop()
    seconds = []
    for _ in range(count):
        began = time.perf_counter()
        _, session = await loop.create_connection(lambda: Session(port, script), "127.0.0.1", port)
        await session.open()
        seconds.append(time.perf_counter() - began)
        sessions.append(session)
    return seconds


async def sizes(session: Session, script: Script) -> dict[str, float]:
    """Mean payload bytes of the requests and the replies."""
    replies = [len(await session.step()) for _ in script.cycle]
    numbers = script.number(0)
    frames = [len(numbers.join(pieces)) for pieces in script.cycle]
    requests = [size - (6 if size < 132 else 8 if size < 2**16 + 8 else 14) for size in frames]
    return {
        "bytes_in": round(sum(requests) / len(requests)),
        "bytes_out": round(sum(replies) / len(replies)),
    }


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


async def pace(sessions: list[Session], seconds: float, rate: float) -> dict[str, Any]:
    """Steps at random times (Poisson), whether or not those before them are answered.

    A step's time counts from the moment it was due, also if it had to wait for a free session. The
    loop spins: timers are too coarse for this.
    """
    gaps = random.Random(0)
    free: deque[Session] = deque()
    for session in sessions:
        session.pace(free)
    cpu = time.process_time()
    due = began = time.perf_counter()
    end = began + seconds
    while due < end or len(free) < len(sessions):
        now = time.perf_counter()
        while due <= now and due < end and free:
            free.popleft().step_due(due)
            due += gaps.expovariate(rate)
        await asyncio.sleep(0)
        if now > end + seconds + 10:
            raise RuntimeError(f"{len(sessions) - len(free)} sessions got no answer")
    wall = time.perf_counter() - began
    for session in sessions:
        session.pace(None)
    return {
        "latencies": [latency for session in sessions for latency in session.latencies],
        "wall_s": wall,
        "client_cpu_s": time.process_time() - cpu,
    }


def script_of(play: dict[str, Any]) -> Script:
    """What to play: `{dialect, workload, batch}`, or `{bytes_in, bytes_out}` for an echo."""
    return echoed(**play) if "bytes_in" in play else spoken(**play)


async def main(port: int, script: Script) -> None:
    sessions: list[Session] = []
    for line in sys.stdin:
        order, *values = line.split()
        if order == "open":
            answer: Any = await open_sessions(port, script, int(values[0]), sessions)
        elif order == "sizes":
            answer = await sizes(sessions[0], script)
        elif order == "run":
            answer = await run(sessions[: int(values[1])], float(values[0]))
        elif order == "pace":
            answer = await pace(sessions[: int(values[1])], float(values[0]), float(values[2]))
        else:
            await asyncio.gather(*(session.close() for session in sessions))
            sessions.clear()
            answer = None
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    gc.disable()  # nothing here makes cycles, and a collection would be taken for the server's
    uvloop.install()
    asyncio.run(main(int(sys.argv[1]), script_of(json.loads(sys.argv[2]))))
