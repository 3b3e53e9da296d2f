"""OwnThreads: blocking calls of tools, each in a thread of its own, for as long as they return."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

from openenv.env.tools import ToolFailure

ResultT = TypeVar("ResultT")

MOST_FORSAKEN = 4
"""Calls of one environment that may still run after their callers have given them up."""


class OwnThreads:
    """Makes blocking calls, side by side.

    A call that never returns keeps its thread and nothing else, not even Python's end. While too
    many such do, further calls are refused, so that there are never more and more threads.

    Args:
        most_forsaken: calls that may still run after their callers have given them up.
    """

    def __init__(self, most_forsaken: int = MOST_FORSAKEN) -> None:
        self._most_forsaken = most_forsaken
        self._forsaken: set[Future[object]] = set()

    def __call__(self, call: Callable[[], ResultT]) -> Awaitable[ResultT]:
        """What a call gives, made in the context of its caller.

        Raises:
            ToolFailure: too many that were given up still run.
        """
        if len(self._forsaken) >= self._most_forsaken:
            raise ToolFailure(
                f"{len(self._forsaken)} calls of this session's tools that were given up still "
                "run; try again when one has returned, or in another session"
            )
        future: Future[ResultT] = Future()
        future.set_running_or_notify_cancel()
        context = copy_context()
        threading.Thread(
            target=lambda: fulfil(future, lambda: context.run(call)),
            name="openenv-tool",
            daemon=True,
        ).start()
        return self._awaited(future)

    async def _awaited(self, future: Future[ResultT]) -> ResultT:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._forsaken.add(future)  # type: ignore[arg-type]
            future.add_done_callback(self._forsaken.discard)
            raise


def fulfil(future: Future[ResultT], call: Callable[[], ResultT]) -> None:
    """Makes a call; what it gives or raises is for whoever waits for the future."""
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001  # handed to whoever waits
        future.set_exception(error)
    else:
        future.set_result(result)
