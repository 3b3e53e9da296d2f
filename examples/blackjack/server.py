"""The BlackJack server as a process of its own, which cannot outlive the one that started it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple
from urllib.parse import urlsplit

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
READY = re.compile(r"serving .* on (http://\S+)")


class Server(NamedTuple):
    """A server that is ready. `ended` waits for its end, however it comes."""

    url: str
    pid: int
    ended: Callable[[], Awaitable[int]]


@asynccontextmanager
async def serving(sessions: int, port: int = 0) -> AsyncIterator[Server]:
    """Starts a server on this machine, on a free port unless told which; stops it in the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, str(sessions), str(port)),
        stdin=PIPE,
        stderr=PIPE,
        start_new_session=True,  # a Ctrl-C in the terminal is for us alone; we stop the server
    )
    try:
        url = await asyncio.wait_for(_url(process), START_TIMEOUT_S)
        log = asyncio.create_task(_pass_on(process))
        yield Server(url, process.pid, process.wait)
        log.cancel()
    finally:
        await _stop(process)


@asynccontextmanager
async def serving_always(
    sessions: int, started: Callable[[Server], object]
) -> AsyncIterator[Server]:
    """As `serving`; a server that dies is followed by another one at the same address.

    Args:
        sessions: how many it holds.
        started: called with each server, the first one included.
    """
    async with serving(sessions) as first:
        started(first)
        keeper = asyncio.create_task(_follow(first, sessions, started))
        try:
            yield first
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper


async def _follow(first: Server, sessions: int, started: Callable[[Server], object]) -> None:
    """Starts a server anew as often as it ends."""
    await first.ended()
    while True:
        async with serving(sessions, urlsplit(first.url).port or 0) as next_one:
            started(next_one)
            await next_one.ended()


async def _url(process: Process) -> str:
    assert process.stderr is not None
    lines = []
    async for line in process.stderr:
        lines.append(line.decode())
        if ready := READY.search(lines[-1]):
            return ready[1]
    raise RuntimeError("the server did not start:\n" + "".join(lines))


async def _pass_on(process: Process) -> None:
    """Shows what else the server has to say, so that its pipe never fills up."""
    assert process.stderr is not None
    async for line in process.stderr:
        sys.stderr.write(line.decode())


async def _stop(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), STOP_TIMEOUT_S)
    except asyncio.TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def main() -> None:
    """The server process: serves until it is told to stop, or until its parent is gone."""
    from blackjack_env.server import BlackJackEnvironment
    from openenv import serve

    threading.Thread(target=_stop_with_parent, daemon=True).start()
    sessions, port = map(int, sys.argv[1:])
    serve(BlackJackEnvironment, port=port, max_sessions=sessions)


def _stop_with_parent() -> None:
    """Waits for the end of the parent's pipe, which comes however the parent ends."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
