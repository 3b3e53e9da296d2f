"""Collected: what a run has collected, counted while it goes on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

from openenv.rollout.trajectories.trajectory import Trajectory


class Collected:
    """What a run has collected; iterate over it for the trajectories, those that failed included.

    Its length is how many episodes this run has played; with an output, the trajectories are all
    that are there, and those of this run that failed.

    Attributes:
        ends: how many episodes of this run ended how, by `End`.
        errors: how many ended by which type of error.
        skipped: how many were there before.
        steps: this run's, all episodes together.
        rewards: the total rewards of its episodes that have one.
        seconds: how long it took, or has taken so far.
    """

    def __init__(self, stored: Callable[[], Iterator[Trajectory]] | None = None) -> None:
        self.ends: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.skipped = 0
        self.steps = 0
        self.rewards: list[float] = []
        self._stored = stored
        self._began = time.perf_counter()
        self._took_s: float | None = None
        self._kept: list[Trajectory] = []

    @property
    def trajectories(self) -> Iterator[Trajectory]:
        """The trajectories, from the disk if they are there."""
        return iter(self._kept) if self._stored is None else self._stored()

    @property
    def seconds(self) -> float:
        """How long the run took, or has taken so far."""
        return time.perf_counter() - self._began if self._took_s is None else self._took_s

    @property
    def steps_per_s(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds

    @property
    def mean_reward(self) -> float | None:
        """Of the episodes of this run that have a reward; `None` if none has."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else None

    def __iter__(self) -> Iterator[Trajectory]:
        return self.trajectories

    def __len__(self) -> int:
        return sum(self.ends.values())

    def __repr__(self) -> str:
        return f"<Collected {len(self)} episodes, {self.steps} steps, {dict(self.ends)}>"

    def stepped(self) -> None:
        """Counts a step."""
        self.steps += 1

    def add(self, trajectory: Trajectory) -> None:
        """Counts a trajectory, and keeps it if no disk does."""
        self.ends[trajectory.end] += 1
        if trajectory.error is not None:
            self.errors[trajectory.error["type"]] += 1
        reward = trajectory.total_reward
        if reward is not None:
            self.rewards.append(reward)
        if self._stored is None:
            self._kept.append(trajectory)

    def finish(self) -> None:
        """Ends the time that is taken."""
        self._took_s = self.seconds
