"""Waiting for another thread's result, in slices: what interrupts a thread comes between two."""

from __future__ import annotations

import math
import time
from concurrent.futures import Future, wait
from typing import TypeVar

ResultT = TypeVar("ResultT")

SLICE_S = 0.05
"""How long a wait may keep its thread from being interrupted."""


def waited(future: Future[ResultT], timeout_s: float | None = None) -> ResultT:
    """The result of a future, which is cancelled if the wait is given up or interrupted.

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
