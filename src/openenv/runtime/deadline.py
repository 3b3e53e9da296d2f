"""Deadline: when a running call has had its time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from openenv.protocol.errors import StepTimeout


class Deadline:
    """One deadline, set anew for each call.

    Its timer is left alone when a call ends, and set again if it rings before the deadline of the
    day: quick calls need none of their own.

    Args:
        passed: called when the deadline passes, with the seconds that were allowed.
    """

    def __init__(self, passed: Callable[[float], None]) -> None:
        self._passed = passed
        self._seconds = math.inf
        self._due = math.inf
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float | None) -> None:
        """A call begins; `None` is all the time in the world."""
        if seconds is None:
            self.clear()
            return
        loop = asyncio.get_running_loop()
        self._seconds, self._due = seconds, loop.time() + seconds
        if self._timer is not None and self._due < self._timer.when():
            self.cancel()
        if self._timer is None:
            self._timer = loop.call_at(self._due, self._ring)

    def clear(self) -> None:
        """The call has ended."""
        self._due = math.inf

    def cancel(self) -> None:
        """Lets go of the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        if self._due == math.inf:
            return
        loop = asyncio.get_running_loop()
        if loop.time() < self._due:
            self._timer = loop.call_at(self._due, self._ring)
            return
        self._due = math.inf
        self._passed(self._seconds)


def overdue_after(seconds: float | None) -> StepTimeout:
    """What a call that ran for so long is answered, as is the session's end."""
    return StepTimeout(
        f"the environment ran longer than {seconds or 0:g} s, the limit for this call; its session "
        "has ended, reset() begins a new one",
        timeout_s=seconds,
    )
