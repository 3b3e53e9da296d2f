"""Fates: what becomes of each frame of one direction of one connection. No I/O."""

from __future__ import annotations

import random
from collections import deque
from typing import NamedTuple

from openenv.testing.faults import Counter, Direction, Fault, Faults, FrameFault
from openenv.testing.frames import BINARY, CONTINUATION, PING, PONG, TEXT, Head

LARGEST_COPY_BYTES = 2**20
"""The largest frame that is kept whole, so that it can be sent twice."""


class Fate(NamedTuple):
    """What becomes of a frame.

    Attributes:
        fault: what happens to it; `None` is nothing.
        seconds: how long a delay or a freeze takes; `None` for ever.
        reset: a cut is a reset.
    """

    fault: Fault | None = None
    seconds: float | None = None
    reset: bool = False


PASS = Fate()


class Refusal(NamedTuple):
    """What a handshake is refused with: an HTTP status, or a reset where that is `None`."""

    status: int | None


class Fates:
    """Decides, from the faults, a seed, and what a test has asked for.

    Args:
        direction: where the frames go.
        faults: what may happen to them.
        dice: where chance comes from.
        planned: what must happen to the next data frames, before chance has its say.
        counter: counts what is decided.
    """

    def __init__(
        self,
        direction: Direction,
        faults: Faults,
        dice: random.Random,
        planned: deque[FrameFault],
        counter: Counter,
    ) -> None:
        self._direction = direction
        self._faults = faults
        self._dice = dice
        self._planned = planned
        self._counter = counter
        self._message = PASS

    def of(self, head: Head) -> Fate:
        """What becomes of a frame; the fragments of one message share its fate."""
        if head.opcode == CONTINUATION:
            return self._message
        if head.opcode in (TEXT, BINARY):
            self._message = self._of_message(head)
            return self._message
        if head.opcode in (PING, PONG):
            self._counter.pings += 1
            if self._dice.random() < self._faults.swallow_pings:
                return self._counted(Fate("swallow_pings"))
        return PASS

    def of_handshake(self) -> Refusal | None:
        """How a handshake is refused, if it is."""
        if self._dice.random() >= self._faults.refuse:
            return None
        return Refusal(self._dice.choice(self._faults.statuses))

    def _of_message(self, head: Head) -> Fate:
        self._counter.frames[self._direction] += 1
        drawn = self._faults.draw(self._dice)
        fault = self._planned.popleft() if self._planned else drawn
        if fault == "duplicate" and not (head.final and head.length <= LARGEST_COPY_BYTES):
            return PASS
        span = {"delay": self._faults.delay_s, "freeze": self._faults.freeze_s}.get(fault or "")
        seconds = None if span is None else self._dice.uniform(*span)
        return self._counted(Fate(fault, seconds, self._dice.random() < self._faults.reset))

    def _counted(self, fate: Fate) -> Fate:
        if fate.fault is not None:
            self._counter.faults[fate.fault] += 1
        return fate
