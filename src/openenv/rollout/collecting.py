"""Collecting: many episodes of a policy, several at a time, as trajectories."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from openenv.client.generic import GenericEnvClient
from openenv.protocol.errors import Json
from openenv.rollout.agreed_lane import AgreedLane
from openenv.rollout.background import Background
from openenv.rollout.environment_spec import environment_spec
from openenv.rollout.episodes import Episode, Playing
from openenv.rollout.policies import Policy, as_policy
from openenv.rollout.store import TrajectoryWriter, load_trajectories
from openenv.rollout.trajectory import Trajectory


class Tracker(Protocol):
    """What is told of each trajectory, for example a TensorBoard."""

    def episode(self, trajectory: Trajectory) -> object:
        """One has ended."""

    def close(self) -> object:
        """All have."""


class Collected:
    """What a run has collected; iterate over it for the trajectories.

    Attributes:
        ends: how many episodes ended how.
        errors: how many ended by which type of error.
        steps: all episodes' together.
        seconds: how long it took.
        output: where the trajectories are, if not in memory.
    """

    def __init__(self, output: Path | None = None) -> None:
        self.ends: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.steps = 0
        self.seconds = 0.0
        self.output = output
        self._began = time.perf_counter()
        self._kept: list[Trajectory] = []

    @property
    def trajectories(self) -> Iterator[Trajectory]:
        """The trajectories, from the disk if `output` was given."""
        return iter(self)

    @property
    def steps_per_s(self) -> float:
        """Steps a second."""
        return self.steps / self.seconds if self.seconds else 0.0

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self._kept) if self.output is None else load_trajectories(self.output)

    def __len__(self) -> int:
        return self.ends.total()

    def add(self, trajectory: Trajectory) -> None:
        """Counts a trajectory, and keeps it if nobody else does."""
        self.ends[trajectory.end] += 1
        if trajectory.error is not None:
            self.errors[trajectory.error["type"]] += 1
        self.steps += len(trajectory)
        self.seconds = time.perf_counter() - self._began
        if self.output is None:
            self._kept.append(trajectory)


def collect(base_url: str, policy: Policy | Callable[[Json], Any], **options: Any) -> Collected:
    """Plays episodes on a server and waits for all of them; arguments as `collect_async`."""
    background = Background(_nothing, "openenv-collect")
    try:
        return background.run(collect_async(base_url, policy, **options))
    finally:
        background.close()


async def collect_async(  # noqa: PLR0913  # each is a user's to set
    base_url: str,
    policy: Policy | Callable[[Json], Any],
    *,
    episodes: int = 10,
    seeds: Sequence[int] | None = None,
    sessions: int = 8,
    max_steps: int = 1000,
    options: Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    progress: Callable[[Trajectory], object] | None = None,
    trackers: Sequence[Tracker] = (),
) -> Collected:
    """Plays episodes on a server.

    Args:
        base_url: the server's address.
        policy: who plays; a function from an observation to an action, both as plain dicts, is one.
        episodes: how many, with the seeds 0, 1 …, if no seeds are given.
        seeds: one for each episode; a seed may come several times.
        sessions: how many are played at the same time.
        max_steps: how long an episode may be.
        options: what each reset is given beside the seed and the episode's name.
        output: a file that the trajectories are appended to; otherwise they are kept in memory.
        progress: called with each trajectory as it ends.
        trackers: told of each likewise, and closed.
    """
    player = as_policy(policy)
    spec = await asyncio.to_thread(environment_spec, base_url)
    plan = [
        Episode(
            episode_id=f"ep-{number:06d}", seed=seed, options=options or {}, max_steps=max_steps
        )
        for number, seed in enumerate(range(episodes) if seeds is None else seeds)
    ]
    slots = range(min(sessions, max(len(plan), 1)))
    lane = AgreedLane(slots, partial(GenericEnvClient, spec.base_url), 0.0, None)
    collected = Collected(None if output is None else Path(output))
    waiting = iter(plan)
    with ExitStack() as open_things:
        for tracker in trackers:
            open_things.callback(tracker.close)
        writer = None
        if output is not None:
            writer = open_things.enter_context(TrajectoryWriter(output))

        async def session(slot: int) -> None:
            for episode in waiting:
                trajectory = await Playing(episode, spec, player, lane, slot).play()
                if writer is not None:
                    writer.write(trajectory)
                collected.add(trajectory)
                for told in (progress, *(tracker.episode for tracker in trackers)):
                    if told is not None:
                        told(trajectory)

        try:
            await asyncio.gather(*map(session, slots))
        finally:
            await lane.close()
    return collected


async def _nothing() -> None:
    """No farewell."""
