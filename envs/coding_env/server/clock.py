"""How long a step's code may still run."""

from __future__ import annotations

import time

RESERVE = 0.25
MAX_RESERVE_S = 1.0
"""The share of the time a caller waits, and at most so much, that is kept for the answer."""
LEAST_S = 0.001


class Clock:
    """Begins with a step.

    Args:
        limit_s: seconds that each run of code in it may take.
        wanted_s: seconds within which the caller wants the step's answer, if it has said so.
            What is not answered by then is lost to it, and its session with it.
    """

    def __init__(self, limit_s: float, wanted_s: float | None) -> None:
        self._limit = limit_s
        self._until: float | None = None
        if wanted_s is not None:
            self._until = time.monotonic() + wanted_s - min(MAX_RESERVE_S, wanted_s * RESERVE)

    def allowed(self) -> float:
        """Seconds that code which begins now may run."""
        if self._until is None:
            return self._limit
        return max(LEAST_S, min(self._limit, self._until - time.monotonic()))
