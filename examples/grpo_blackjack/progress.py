"""What training has brought so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from typing_extensions import Self

from grpo_blackjack.evaluation import Point

LAST = 3


@dataclass
class Progress:
    """The course of a run.

    Attributes:
        steps: how many there will be.
        step: how many there were.
        games: games learned from.
        interrupted: games that were cut off, and dealt again.
        seconds: time spent, before a resume too.
        rewards: the mean reward of each step's games.
        losses: what the trainer said of the last step.
        points: the exact value of the policy, from before the first step on.
    """

    steps: int
    step: int = 0
    games: int = 0
    interrupted: int = 0
    seconds: float = 0.0
    rewards: list[float] = field(default_factory=list)
    losses: dict[str, float] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)

    @classmethod
    def restored(cls, fields: dict[str, Any]) -> Self:
        """The progress that `asdict` took apart."""
        points = [Point(**point) for point in fields["points"]]
        return cls(**{**fields, "points": points})

    @property
    def speed(self) -> float:
        """Games per second, learning included."""
        return self.games / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """When it will be over, at this speed."""
        return self.seconds / self.step * (self.steps - self.step) if self.step else 0.0

    @property
    def last_ev(self) -> float:
        """The mean of the last evaluations: a single one wobbles."""
        return fmean(point.ev for point in self.points[-LAST:])

    def ev_at(self, games: int) -> float | None:
        """The value at the first evaluation from that many games on."""
        return next((point.ev for point in self.points if point.games >= games), None)
