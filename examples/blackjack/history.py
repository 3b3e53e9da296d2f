"""What training has brought so far."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

RECENT_UPDATES = 8


@dataclass
class History:
    """The course of a training run, and its clock.

    Attributes:
        total: games to be played.
        games: games played.
        rewards: the mean reward of each update's games.
        exact: the exact value of the policy that played them.
        began: when training began.
        latest: when the last update came.
    """

    total: int
    games: int = 0
    rewards: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    latest: float = 0.0

    def add(self, rewards: Sequence[float], exact: float) -> None:
        """Takes down one update."""
        self.games += len(rewards)
        self.rewards.append(fmean(rewards))
        self.exact.append(exact)
        self.latest = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the games have taken."""
        return self.latest - self.began

    @property
    def speed(self) -> float:
        """Games per second."""
        return self.games / self.seconds

    @property
    def seconds_left(self) -> float:
        """When it will be over, at this speed."""
        return (self.total - self.games) / self.speed

    @property
    def recent_reward(self) -> float:
        """The mean reward of the last games."""
        return fmean(self.rewards[-RECENT_UPDATES:])


def means(values: Sequence[float], parts: int) -> list[float]:
    """Cuts a series into at most `parts` equal parts, and averages each."""
    size = max(1, -(-len(values) // parts))
    return [fmean(values[start : start + size]) for start in range(0, len(values), size)]
