"""The BlackJack server as a process of its own, which cannot outlive the one that started it."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0
READY = re.compile(r"serving .* on (http://\S+)")


class Server(NamedTuple):
    """A server that is ready."""

    url: str
    pid: int


@asynccontextmanager
async def serving(sessions: int) -> AsyncIterator[Server]:
    """Starts a server on a free port of this machine, and stops it in the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, __file__, str(sessions)),
        stdin=PIPE,
        stderr=PIPE,
        start_new_session=True,  # a Ctrl-C in the terminal is for us alone; we stop the server
    )
    try:
        url = await asyncio.wait_for(_url(process), START_TIMEOUT_S)
        log = asyncio.create_task(_pass_on(process))
        yield Server(url, process.pid)
        log.cancel()
    finally:
        await _stop(process)


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
    serve(BlackJackEnvironment, port=0, max_sessions=int(sys.argv[1]))


def _stop_with_parent() -> None:
    """Waits for the end of the parent's pipe, which comes however the parent ends."""
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
