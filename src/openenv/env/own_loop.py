"""OwnLoop: an event loop in a thread of its own, which keeps nobody waiting but who asks it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any, TypeVar

from openenv._waiting import waited

logger = logging.getLogger("openenv.tools")

ResultT = TypeVar("ResultT")

PATIENCE_S = 5.0
"""How long what still runs may take to end when the loop is closed."""


class OwnLoop:
    """Runs coroutines of any thread. Its thread begins with the first of them.

    A coroutine that blocks its thread holds up the others, and nobody else: callers give up
    waiting when they like, and `close` does after five seconds.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._beginning = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = False

    def run(
        self, coroutine: Coroutine[Any, Any, ResultT], timeout_s: float | None = None
    ) -> ResultT:
        """Its result, waited for.

        Args:
            coroutine: what to run.
            timeout_s: seconds to wait, without end by default.

        Raises:
            RuntimeError: the loop is closed, or it is the loop's own thread that would wait.
            TimeoutError: the time is over; the coroutine is cancelled.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a blocking call inside an async tool waits for itself; await it")
        return waited(self._submit(coroutine), timeout_s)

    async def awaited(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Its result. Cancelling the wait cancels the coroutine.

        Raises:
            RuntimeError: the loop is closed.
        """
        if asyncio.get_running_loop() is self._loop:
            return await coroutine
        return await asyncio.wrap_future(self._submit(coroutine))

    def close(self, farewell: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Ends what runs, and the thread. Twice is as good as once.

        Args:
            farewell: what is to run at last.

        Raises:
            RuntimeError: it is the loop's own thread that would end it.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("an async tool cannot close the environment that runs it")
        with self._beginning:
            self._is_closed, was_closed = True, self._is_closed
            loop, thread = self._loop, self._thread
        if was_closed or loop is None or thread is None:
            return
        ending = asyncio.run_coroutine_threadsafe(_end(farewell), loop)
        with suppress(FutureTimeoutError):  # it is blocked: the thread ends when that returns
            ending.result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S if ending.done() else 0)

    def _submit(self, coroutine: Coroutine[Any, Any, ResultT]) -> Future[ResultT]:
        with self._beginning:
            try:
                loop = self._begun()
            except BaseException:
                coroutine.close()
                raise
            return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._is_closed:
            raise RuntimeError("this environment is closed")
        if self._loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name=self._name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # no thread is left
                loop.close()
                raise
            self._loop, self._thread = loop, thread
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()
    loop.close()


def _take_notice(farewell: asyncio.Future[None]) -> None:
    """There is nobody left who could be told that it failed."""
    if not farewell.cancelled() and (error := farewell.exception()) is not None:
        logger.warning("saying goodbye failed: %s: %s", type(error).__name__, error)


async def _end(farewell: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
    own = asyncio.current_task()
    if farewell is not None:
        saying = asyncio.ensure_future(farewell())
        saying.add_done_callback(_take_notice)
        await asyncio.wait([saying], timeout=PATIENCE_S / 2)
    left = asyncio.all_tasks() - {own}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=PATIENCE_S / 4)
