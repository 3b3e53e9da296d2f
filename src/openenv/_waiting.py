"""Waiting for another thread: for what it gives, and for the event loop that it runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")

SLICE_S = 0.05
"""How long a wait may keep its thread from being interrupted."""


def waited(future: Future[ResultT], timeout_s: float | None = None) -> ResultT:
    """The result of a future, which is cancelled if the wait is given up or interrupted.

    It is waited for in slices: what interrupts a thread comes between two of them.

    Args:
        future: what is waited for.
        timeout_s: seconds to wait, without end by default.

    Raises:
        TimeoutError: the time is over.
        Exception: what was waited for has raised it.
    """
    until = math.inf if timeout_s is None else time.monotonic() + timeout_s
    try:
        while not future.done() and time.monotonic() < until:
            wait([future], min(SLICE_S, until - time.monotonic()))
        if not future.done():
            raise TimeoutError(f"no answer within {timeout_s:g} s")
        return future.result()
    finally:
        future.cancel()  # of no effect unless the wait was given up


def run_loop(
    run: Callable[[Coroutine[Any, Any, None]], None],
    main: Coroutine[Any, Any, None],
    begun: Future[Any],
) -> None:
    """Runs a coroutine in this thread; who waits for its beginning is told if there is none.

    Args:
        run: begins an event loop and runs a coroutine in it, as `asyncio.run` does.
        main: the coroutine, which sets the result of `begun`.
        begun: what is waited for in another thread.
    """
    try:
        run(main)
    except BaseException as error:  # no descriptor was left for a loop, say
        main.close()
        if begun.done():
            raise
        begun.set_exception(error)
