"""Reaper: ends sessions that have been idle for too long, and never one that is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set

from openenv.protocol.errors import SessionExpired
from openenv.runtime.seat import Seat

SHORTEST_NAP_S = 0.01


class Reaper:
    """Sleeps until the next session could be overdue, as long as there are sessions to watch."""

    def __init__(self, clock: Callable[[], float], seats: Set[Seat]) -> None:
        self._clock = clock
        self._seats = seats
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, seat: Seat) -> None:
        """Looks in time; to be called when a session opens, or may do nothing for less long."""
        if seat.idle_limit is not None:
            self._look_within(seat.idle_limit)

    def stop(self) -> None:
        """Watches no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_within(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + max(seconds, SHORTEST_NAP_S)
        if self._timer is None or due < self._timer.when():
            self.stop()
            self._timer = loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        nap = self._round()
        if nap is not None:
            self._look_within(nap)

    def _round(self) -> float | None:
        """Ends what is overdue; gives the seconds until the next look, `None` without any."""
        nap: float | None = None
        for seat in list(self._seats):
            limit = seat.idle_limit
            if limit is None or not seat.is_open:
                continue
            left = limit if seat.is_awaited else seat.last_active + limit - self._clock()
            if left <= 0:
                seat.expire(SessionExpired(seat.session_id, limit))
            else:
                nap = left if nap is None else min(nap, left)
        return nap
