"""Async rubrics for callers that block: one event loop of the process, in a thread of its own.

All of a process share it, so that what belongs to a loop, such as a client's connections, serves
every session. It begins with the first use and ends with the process.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable
from concurrent.futures import Future
from typing import TypeVar

from openenv._waiting import run_loop, waited
from openenv.rubrics.containment import contained

ResultT = TypeVar("ResultT")

FAREWELL_S = 1.0
"""How long its end may take, in seconds, when the process ends."""


class _Loop:
    """A loop that runs until it is stopped.

    Raises:
        OSError: there is nothing left to make one of.
    """

    def __init__(self) -> None:
        self._pid = os.getpid()
        begun: Future[asyncio.AbstractEventLoop] = Future()
        self._thread = threading.Thread(
            target=lambda: run_loop(asyncio.run, self._serve(begun), begun),
            name="openenv-rubrics",
            daemon=True,
        )
        self._thread.start()
        self.loop = begun.result()

    async def _serve(self, begun: Future[asyncio.AbstractEventLoop]) -> None:
        self._stopping = asyncio.Event()
        begun.set_result(asyncio.get_running_loop())
        await self._stopping.wait()

    def runs(self) -> bool:
        """Whether it is there; a forked child has no such thread."""
        return self._pid == os.getpid() and self._thread.is_alive()

    def stop(self) -> None:
        """Cancels what is under way, and ends."""
        if self.runs():
            self.loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(FAREWELL_S)


_beginning = threading.Lock()
_loops: list[_Loop] = []


def awaited(pending: Awaitable[ResultT]) -> ResultT:
    """What an awaitable gives. An interruption cancels it."""
    loop = _shared()
    return waited(asyncio.run_coroutine_threadsafe(contained(pending), loop))


def on_a_loop() -> bool:
    """Whether an event loop runs in this thread, which must not be kept waiting."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _shared() -> asyncio.AbstractEventLoop:
    with _beginning:
        if not _loops or not _loops[-1].runs():
            begun = _Loop()
            atexit.register(begun.stop)
            _loops[:] = [begun]
        return _loops[-1].loop
