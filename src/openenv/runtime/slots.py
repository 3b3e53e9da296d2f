"""Slots: how many sessions there may be, and who waits for one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from openenv.protocol.errors import SessionCapacityError, SessionCreationError

Tell = Callable[[int, int], None]
"""Takes somebody's place in the queue, of which 1 is the next, and how many are in it."""


@dataclass(eq=False)
class _Turn:
    """One client in the queue.

    Attributes:
        comes: done when it has a slot.
        tell: whom to tell its place, if anybody wants to know.
        told: the place that was told last.
    """

    comes: asyncio.Future[None]
    tell: Tell | None
    told: int = 0


class Slots:
    """A bounded number of slots with a bounded, fair queue.

    Args:
        capacity: slots.
        waiting: clients that may queue.
        max_wait: the longest that one may, in seconds.
        of_workers: servers that share the port, each with slots of its own.

    Attributes:
        taken: slots that are in use.
    """

    def __init__(self, capacity: int, waiting: int, max_wait: float, of_workers: int = 1) -> None:
        self.capacity = capacity
        self.taken = 0
        self._most = waiting
        self._max_wait = max_wait
        self._of_workers = of_workers
        self._queue: deque[_Turn] = deque()
        self._shut = False

    @property
    def waiting(self) -> int:
        """Clients in the queue."""
        return len(self._queue)

    @property
    def free_now(self) -> bool:
        """Whether one can be had without waiting."""
        return self.taken < self.capacity and not self._queue

    @property
    def turns_away(self) -> bool:
        """Whether who comes now is refused for those who wait, or for good."""
        return self._shut or 0 < len(self._queue) >= self._most

    async def take(self, wait_s: float, tell: Tell | None = None) -> None:
        """Takes a slot, in turn.

        Args:
            wait_s: how long to queue for one; 0 fails at once.
            tell: told the place in the queue, at once and whenever it changes.

        Raises:
            SessionCapacityError: none was free, or became free in time.
            SessionCreationError: the slots were shut.
        """
        self._refuse_if_shut()
        if self.free_now:
            self.taken += 1
            return
        if wait_s <= 0 or len(self._queue) >= self._most:
            raise self._full()
        turn = _Turn(asyncio.get_running_loop().create_future(), tell)
        self._queue.append(turn)
        self._tell_places()
        try:
            await asyncio.wait_for(turn.comes, min(wait_s, self._max_wait))
        except BaseException as error:
            if turn.comes.done() and not turn.comes.cancelled():
                self.free()  # it was given a slot as it gave up
            elif turn in self._queue:
                self._queue.remove(turn)
                self._tell_places()
            self._refuse_if_shut()
            if isinstance(error, asyncio.TimeoutError):
                raise self._full() from None
            raise

    def free(self) -> None:
        """Gives a slot back: to the first in the queue, if somebody waits."""
        self.taken -= 1
        while self._queue and self.taken < self.capacity:
            comes = self._queue.popleft().comes
            if not comes.done():
                self.taken += 1
                comes.set_result(None)
        self._tell_places()

    def shut(self) -> None:
        """Gives no more slots, and sends the queue away."""
        self._shut = True
        for turn in self._queue:
            turn.comes.cancel()
        self._queue.clear()

    def _tell_places(self) -> None:
        for place, turn in enumerate(self._queue, 1):
            if turn.tell is not None and turn.told != place:
                turn.told = place
                turn.tell(place, len(self._queue))

    def _full(self) -> SessionCapacityError:
        return SessionCapacityError(self.taken, self.capacity, of_workers=self._of_workers)

    def _refuse_if_shut(self) -> None:
        if self._shut:
            raise SessionCreationError("the server is stopping")
