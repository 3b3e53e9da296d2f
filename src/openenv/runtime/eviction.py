"""Eviction: who stays away for long makes room for who waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from openenv.protocol.errors import SessionExpired
from openenv.runtime.limits import Limits
from openenv.runtime.resumable import Resumable
from openenv.runtime.slots import Slots


class Eviction:
    """Ends the longest cut-off sessions when clients wait for their slots.

    A client that was cut off has had its time to come back by then. While somebody waits a timer
    tells when the next one has.

    Args:
        slots: those that are waited for.
        sessions: all that a client may come back to, by id.
        limits: `eviction_age` and `close_grace` count here.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        slots: Slots,
        sessions: Mapping[str, Resumable],
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self._slots = slots
        self._sessions = sessions
        self._age = limits.eviction_age
        self._grace = limits.close_grace
        self._clock = clock
        self._leaving: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def make_room(self) -> float:
        """Makes room for a new client if it must; the seconds until it is there, 0 if it is not."""
        slots = self._slots
        if slots.free_now or slots.turns_away:
            return 0.0
        return self._grace if self._evict(slots.waiting + 1) else 0.0

    def look(self) -> None:
        """Does what is due; to be called when anything changes but that a client comes."""
        self._evict(self._slots.waiting)

    def stop(self) -> None:
        """Ends no more of them, until the next change."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _evict(self, wanted: int) -> bool:
        """Makes room for that many, as far as it may by now; whether all will have it."""
        self.stop()
        if wanted <= 0:
            return True
        now = self._clock()
        self._leaving = {each: due for each, due in self._leaving.items() if each in self._sessions}
        pauses = [due - now for due in self._leaving.values() if due > now]  # others hang
        wanted -= len(pauses)
        for since, session in self._cut_off()[: max(wanted, 0)]:
            pause = since + self._age - now
            if pause <= 0:
                pause = self._grace
                wanted -= 1
                self._leaving[session.seat.session_id] = now + pause
                session.seat.expire(SessionExpired(session.seat.session_id, now - since))
            pauses.append(pause)
        if pauses:
            self._timer = asyncio.get_running_loop().call_later(min(pauses), self.look)
        return wanted <= 0

    def _cut_off(self) -> list[tuple[float, Resumable]]:
        """Sessions that nobody holds, and since when; the longest first."""
        found = [
            (each.detached_at, each)
            for each in self._sessions.values()
            if each.detached_at is not None and each.seat.is_open
        ]
        return sorted(found, key=lambda pair: pair[0])
