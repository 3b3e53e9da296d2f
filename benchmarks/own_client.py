"""One session with a package's own clients: ``own_client.py PORT SECONDS OPTIONS KIND...``.

Runs under the interpreter of the package whose clients it measures (the `bare` kinds need the
websockets library only; OPTIONS are keywords for the clients, as JSON) and prints a line of JSON:
for each kind the time of each step, and the wall and CPU seconds of the run.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

FRAME = '{"type":"step","data":{"message":"hello","n":1}}'
OPTIONS: dict[str, Any] = {}
FIELDS: dict[str, Any] = {"message": "hello", "n": 1}
WARM_UP = 20


class Run:
    """Times steps until the time is over; the warm-up isn't counted."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._latencies: list[float] = []

    def start(self) -> None:
        self._cpu, self._began = time.process_time(), time.perf_counter()
        self._last = self._began

    def goes_on(self) -> bool:
        """Note one step; whether there is time for another."""
        now = time.perf_counter()
        self._latencies.append(now - self._last)
        self._last = now
        return now - self._began < self._seconds

    def result(self) -> dict[str, Any]:
        cpu, wall = time.process_time() - self._cpu, time.perf_counter() - self._began
        return {"latencies": self._latencies, "wall_s": wall, "client_cpu_s": cpu}


def drive(step: Callable[[], Any], seconds: float) -> dict[str, Any]:
    """Blocking steps, one after another."""
    run = Run(seconds)
    for _ in range(WARM_UP):
        step()
    run.start()
    step()
    while run.goes_on():
        step()
    return run.result()


async def drive_async(step: Callable[[], Awaitable[Any]], seconds: float) -> dict[str, Any]:
    """Awaited steps, one after another."""
    run = Run(seconds)
    for _ in range(WARM_UP):
        await step()
    run.start()
    await step()
    while run.goes_on():
        await step()
    return run.result()


def typed(url: str) -> tuple[Any, Any]:
    """A client that an author wrote, and its action."""
    from bench_client import BenchClient
    from bench_env import BenchAction

    return BenchClient(base_url=url, **OPTIONS), BenchAction(**FIELDS)


def sync_client(url: str, seconds: float) -> dict[str, Any]:
    client, action = typed(url)
    with client.sync() as env:
        env.reset()
        return drive(lambda: env.step(action), seconds)


async def awaiting(client: Any, action: Any, seconds: float) -> dict[str, Any]:
    async with client as env:
        await env.reset()
        return await drive_async(lambda: env.step(action), seconds)


def async_client(url: str, seconds: float) -> dict[str, Any]:
    return asyncio.run(awaiting(*typed(url), seconds))


def generic_client(url: str, seconds: float) -> dict[str, Any]:
    from openenv import GenericEnvClient

    return asyncio.run(awaiting(GenericEnvClient(base_url=url, **OPTIONS), FIELDS, seconds))


def bare_sync(url: str, seconds: float) -> dict[str, Any]:
    from websockets.sync.client import connect

    with connect(url.replace("http", "ws") + "/ws") as socket:

        def step() -> None:
            socket.send(FRAME)
            socket.recv()

        return drive(step, seconds)


async def bare_awaiting(url: str, seconds: float) -> dict[str, Any]:
    from websockets.asyncio.client import connect

    async with connect(url.replace("http", "ws") + "/ws") as socket:

        async def step() -> None:
            await socket.send(FRAME)
            await socket.recv()

        return await drive_async(step, seconds)


def bare_async(url: str, seconds: float) -> dict[str, Any]:
    return asyncio.run(bare_awaiting(url, seconds))


KINDS = {
    "sync": sync_client,
    "async": async_client,
    "generic": generic_client,
    "bare-sync": bare_sync,
    "bare-async": bare_async,
}


if __name__ == "__main__":
    address = f"http://127.0.0.1:{sys.argv[1]}"
    duration, kinds = float(sys.argv[2]), sys.argv[4:]
    OPTIONS |= json.loads(sys.argv[3])
    for kind in kinds:  # the interpreter is faster the second time, from the first step to the last
        KINDS[kind](address, duration / 4)
    print(json.dumps({kind: KINDS[kind](address, duration) for kind in kinds}))
