"""What a pool counts."""

from __future__ import annotations

import time
from dataclasses import dataclass

from openenv.rollout.lanes import Outcome, Turn
from openenv.rollout.slots import Phase, is_fatal


@dataclass(frozen=True)
class PoolMetrics:
    """A pool's counts at one moment, since it was made.

    Attributes:
        size: slots.
        waiting: slots whose results have not been taken yet.
        steps: steps that gave a result.
        episodes: episodes that came to their end.
        failures: turns that an environment refused or failed in a living session.
        faults: turns that failed otherwise: a session or a server was lost, or a wait too long.
        lost: episodes that were running when a fault struck.
        restarts: episodes that were begun in the place of lost ones.
        unscored: steps whose reward could not be computed, as a verifier failed.
        elapsed_s: seconds since the first call.
    """

    size: int
    waiting: int = 0
    steps: int = 0
    episodes: int = 0
    failures: int = 0
    faults: int = 0
    lost: int = 0
    restarts: int = 0
    unscored: int = 0
    elapsed_s: float = 0.0

    @property
    def steps_per_s(self) -> float:
        """Steps per second since the first call."""
        return self.steps / self.elapsed_s if self.elapsed_s > 0 else 0.0


class Tally:
    """The counts as they grow."""

    def __init__(self, size: int) -> None:
        self.steps = self.episodes = self.failures = self.faults = self.lost = self.restarts = 0
        self.unscored = 0
        self._size = size
        self._since: float | None = None

    def begin(self) -> None:
        """The first call is made, unless it was."""
        if self._since is None:
            self._since = time.monotonic()

    def count(self, turn: Turn, outcome: Outcome, before: Phase, after: Phase) -> None:
        """Counts what became of a turn, and of the episode that stood so before and after."""
        if isinstance(outcome, Exception):
            if is_fatal(outcome):
                self.faults += 1
                self.lost += turn.op == "step" and before is Phase.RUNNING
            else:
                self.failures += 1
            return
        self.steps += turn.op == "step"
        self.episodes += after is Phase.OVER
        self.restarts += before is Phase.LOST
        self.unscored += outcome.reward_error is not None

    def read(self, waiting: int) -> PoolMetrics:
        """The counts now."""
        return PoolMetrics(
            self._size,
            waiting,
            self.steps,
            self.episodes,
            self.failures,
            self.faults,
            self.lost,
            self.restarts,
            self.unscored,
            0.0 if self._since is None else time.monotonic() - self._since,
        )
