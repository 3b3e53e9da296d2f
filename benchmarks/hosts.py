"""What a session's host costs, with no socket before it: ``hosts.py KIND SESSIONS SECONDS``.

Prints a line of JSON. `open_p50_ms`, `open_p99_ms`, `close_p50_ms`: sessions that come and go one
by one, after a first one. `step_us`: the median round trip of a step. `private_mb`: memory that
each of `SESSIONS` sessions has to itself, pages that it shares with its zygote not counted.
"""

import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop
from bench_env import BenchEnv
from loads import percentile
from measure import family

from openenv.env.spec import EnvSpec
from openenv.protocol.messages import Request
from openenv.runtime.hosts import Housing
from openenv.runtime.limits import Limits
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions

HELLO = Request("step", {"message": "hello", "n": 1}, None, True)


async def timed(call: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    """The seconds that a call took, and what it gave."""
    began = time.perf_counter()
    given = await call()
    return time.perf_counter() - began, given


def private_kb(pid: int) -> int:
    """Memory of a process that it shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private"))


async def come_and_go(sessions: Sessions, count: int) -> dict[str, float]:
    """Sessions that open and close one by one."""
    opened, closed = [], []
    for _ in range(count):
        seconds, seat = await timed(sessions.open)
        opened.append(seconds)
        closed.append((await timed(seat.close))[0])
    return {
        "open_p50_ms": percentile(opened, 0.5) * 1e3,
        "open_p99_ms": percentile(opened, 0.99) * 1e3,
        "close_p50_ms": percentile(closed, 0.5) * 1e3,
    }


async def steps(seat: Seat, seconds: float) -> dict[str, float]:
    """Steps of one session, one after the other."""
    taken = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        taken.append((await timed(lambda: seat.ask(HELLO)))[0])
    return {"step_us": percentile(taken, 0.5) * 1e6}


async def held(sessions: Sessions, count: int) -> dict[str, float]:
    """Sessions that stay; those that live in this process have no memory of their own to count."""
    for _ in range(count):
        seat = await sessions.open()
        await seat.ask(Request("reset", {}, None, True))
        await seat.ask(HELLO)
    zygote, *others = [pid for pid in family(os.getpid()) if pid != os.getpid()] or [0]
    return {"private_mb": sum(map(private_kb, others)) / 1024 / count} if zygote else {}


async def measure(kind: Any, count: int, seconds: float) -> dict[str, float]:
    spec = EnvSpec.of(BenchEnv)
    housing = Housing(kind, environ={"PATH": os.environ["PATH"]})
    sessions = Sessions(spec, Limits(capacity=count + 1), housing)
    try:
        seat = await sessions.open()
        await seat.ask(Request("reset", {}, None, True))
        stepped = await steps(seat, seconds)
        await seat.close()
        return stepped | await come_and_go(sessions, count) | await held(sessions, count)
    finally:
        await sessions.close_all()


if __name__ == "__main__":
    print(json.dumps(uvloop.run(measure(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))))
