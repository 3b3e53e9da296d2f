"""Audience: those who look on at the sessions of a server, and may do nothing else."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import TYPE_CHECKING

from openenv.protocol.errors import Backpressure, Json
from openenv.runtime.event import Event
from openenv.runtime.tap import Tap

if TYPE_CHECKING:
    from openenv.runtime.seat import Seat

MAX_SPECTATORS = 32
MAX_CHOSEN = 16
"""Sessions that one spectator may look at."""
MAX_EVENTS = 256
MAX_WAITING_BYTES = 8 * 1024 * 1024
"""What waits for one spectator; of what is older only the number is told."""


class Spectator:
    """One who looks on, at the sessions of its choice.

    Args:
        ring: called when there is something to be told.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        self.chosen: frozenset[str] = frozenset()
        self._ring = ring
        self._events: deque[Event] = deque()
        self._skipped: dict[str, int] = {}
        self._bytes = 0

    def take(self, event: Event) -> None:
        """Is told of an event; what it was told before and has not read may be skipped."""
        self._events.append(event)
        self._bytes += event.size
        while len(self._events) > MAX_EVENTS or self._bytes > MAX_WAITING_BYTES:
            alias = self._pop().progress.id
            self._skipped[alias] = self._skipped.get(alias, 0) + 1
        self._ring()

    def next(self) -> Event | Json | None:
        """What is to be told next: an event, or how many were skipped before it."""
        alias = self._events[0].progress.id if self._events else next(iter(self._skipped), None)
        if alias is None:
            return None
        skipped = self._skipped.pop(alias, 0)
        if skipped:
            return {"type": "skipped", "id": alias, "count": skipped}
        return self._pop()

    def _pop(self) -> Event:
        event = self._events.popleft()
        self._bytes -= event.size
        return event


class Audience:
    """Those who look on. A session costs next to nothing more as long as there is nobody.

    Attributes:
        attended: somebody looks on.
    """

    def __init__(self) -> None:
        self.attended = False
        self._taps: dict[str, Tap] = {}
        self._spectators: set[Spectator] = set()
        self._numbers = count(1)

    @property
    def taps(self) -> list[Tap]:
        """Those of all sessions, the oldest first."""
        return list(self._taps.values())

    def tap(self, seat: Seat, now: float) -> Tap:
        """The tap of a session that begins."""
        made = Tap(f"s{next(self._numbers)}", seat, self, now)
        self._taps[made.alias] = made
        return made

    def lose(self, tap: Tap) -> None:
        """A session has ended."""
        self._taps.pop(tap.alias, None)

    def tell(self, alias: str, make: Callable[[], Event]) -> None:
        """Tells those who look at a session what it did; the event is made only for them."""
        looking = [each for each in self._spectators if alias in each.chosen]
        if looking:
            event = make()
            for spectator in looking:
                spectator.take(event)

    def enter(self, spectator: Spectator) -> None:
        """Somebody looks on from now.

        Raises:
            Backpressure: there are too many.
        """
        if len(self._spectators) >= MAX_SPECTATORS:
            raise Backpressure(f"{MAX_SPECTATORS} look on already, as many as may; try later")
        if not self.attended:
            for tap in self._taps.values():
                tap.catch_up()
        self._spectators.add(spectator)
        self.attended = True

    def leave(self, spectator: Spectator) -> None:
        """Somebody has left."""
        self._spectators.discard(spectator)
        self.attended = bool(self._spectators)

    def choose(self, spectator: Spectator, aliases: Iterable[str]) -> None:
        """Has somebody look at these sessions; of new ones the newest event is told at once."""
        before, spectator.chosen = spectator.chosen, frozenset(aliases)
        for alias in sorted(spectator.chosen - before):
            tap = self._taps.get(alias)
            newest = None if tap is None else tap.newest()
            if newest is not None:
                spectator.take(newest)
