"""Reaper: ends sessions that have been idle for too long, and never a busy one."""

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
        self._task: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """Begins to watch, if it does not yet; to be called whenever a session opens."""
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())

    def stop(self) -> None:
        """Watches no more."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while (nap := self._round()) is not None:  # noqa: ASYNC110  # time is the event
            await asyncio.sleep(max(nap, SHORTEST_NAP_S))

    def _round(self) -> float | None:
        """Ends what is overdue; gives the seconds until the next look, `None` without any."""
        nap: float | None = None
        for seat in list(self._seats):
            limit = seat.idle_limit
            if limit is None or not seat.is_open:
                continue
            left = limit if seat.is_busy else seat.last_active + limit - self._clock()
            if left <= 0:
                seat.expire(SessionExpired(seat.session_id, limit))
            else:
                nap = left if nap is None else min(nap, left)
        return nap
