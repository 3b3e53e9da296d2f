"""Background: one event loop in a thread, for callers that block."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

FAREWELL_S = 1.0
"""How long a thread that is stopped may still take to say goodbye to servers."""


class Background:
    """An event loop in a thread of its own, which begins with the first call.

    Args:
        farewell: awaited when it is stopped, for a second at most.
        name: of the thread.
    """

    def __init__(
        self, farewell: Callable[[], Coroutine[Any, Any, None]], name: str = "openenv-pool"
    ) -> None:
        self._farewell = farewell
        self._name = name
        self._beginning, self._ending = threading.Lock(), threading.Lock()
        self._pid = os.getpid()
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._stopping: asyncio.Event

    def run(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        """The result of a coroutine; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        try:
            return future.result()
        finally:
            future.cancel()  # of no effect unless the wait was interrupted

    def close(self) -> None:
        """Says goodbye without haste, and stops."""
        with self._ending:
            if self._thread is not None and self._pid == os.getpid():
                try:
                    self.run(self._farewell())
                finally:
                    self.stop()

    def stop(self) -> None:
        """Ends the loop and its thread. Does nothing twice, or in a forked child."""
        thread = self._thread
        if thread is None or self._pid != os.getpid():
            return
        self._ready.wait()
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread = None
        if thread is not threading.current_thread():
            thread.join(2 * FAREWELL_S)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._beginning:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=lambda: _run(self._serve()), name=self._name, daemon=True
                )
                self._thread.start()
        self._ready.wait()
        return self._loop

    async def _serve(self) -> None:
        self._stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        await self._stopping.wait()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._farewell(), FAREWELL_S)


def _run(main: Coroutine[Any, Any, None]) -> None:
    """As `asyncio.run`, on a loop that takes a fifth less time, where there is one."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
