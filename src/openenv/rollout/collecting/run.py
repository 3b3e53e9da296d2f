"""A run: the episodes of a plan that are not there yet, played, kept, and told of."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from openenv.rollout.collecting.collected import Collected
from openenv.rollout.collecting.crew import Crew, Terms
from openenv.rollout.collecting.episodes import Episode
from openenv.rollout.collecting.recording import Recorder, Sink
from openenv.rollout.policies.environment_spec import EnvironmentSpec
from openenv.rollout.policies.policy import Policy
from openenv.rollout.trajectories.trajectory import Trajectory

logger = logging.getLogger(__name__)


class Tracker(Protocol):
    """What is told of each trajectory, for example a TensorBoard."""

    def episode(self, trajectory: Trajectory) -> object:
        """One has ended."""

    def close(self) -> object:
        """All have."""


class Progress(Tracker, Protocol):
    """A tracker that shows how far a run has come."""

    def begin(self, total: int, collected: Collected) -> object:
        """A run begins.

        Args:
            total: how many episodes there are to be, those that are there already included.
            collected: what is counted while it goes on.
        """


class Storage(Sink, Protocol):
    """Where the trajectories of a run are, those of earlier runs included."""

    def there(self, plan: Sequence[Episode]) -> set[str]:
        """The names of the episodes that need not be played.

        Raises:
            ConfigurationError: it holds other episodes.
        """

    def trajectories(self) -> Iterator[Trajectory]:
        """Those that are there, and those of this run that failed."""


class Run:
    """Plays a plan.

    Args:
        spec: the environment.
        policy: who plays.
        terms: how.
        storage: where the trajectories go; `None` for the memory.
        listeners: told of each trajectory, and closed.
    """

    def __init__(
        self,
        spec: EnvironmentSpec,
        policy: Policy,
        terms: Terms,
        storage: Storage | None = None,
        listeners: Sequence[Tracker] = (),
    ) -> None:
        self._storage = storage
        self._listeners = list(listeners)
        self.collected = Collected(None if storage is None else storage.trajectories)
        self._recorder = None if storage is None else Recorder(storage)
        self._crew = Crew(spec, policy, terms, self._keep, self.collected.stepped)

    async def play(self, plan: Sequence[Episode]) -> Collected:
        """Plays the episodes that are not there yet; errors as `Crew.play`."""
        there: set[str] = set()
        try:
            if self._storage is not None:
                there = await asyncio.to_thread(self._storage.there, plan)
            self.collected.skipped = len(there)
            for listener in list(self._listeners):
                begin = getattr(listener, "begin", None)
                if begin is not None:
                    self._tell(listener, begin, len(plan), self.collected)
            await self._crew.play(each for each in plan if each.episode_id not in there)
        finally:
            if self._recorder is not None:
                await self._recorder.settle()
            self.collected.finish()
            for listener in self._listeners:
                _told(listener.close)
        return self.collected

    async def _keep(self, trajectory: Trajectory) -> None:
        if self._recorder is not None:
            trajectory = await self._recorder.keep(trajectory)
        self.collected.add(trajectory)
        for listener in list(self._listeners):
            self._tell(listener, listener.episode, trajectory)

    def _tell(self, listener: Tracker, call: Callable[..., object], *arguments: Any) -> None:
        """Tells a listener something; one that fails is told nothing more."""
        if not _told(call, *arguments):
            self._listeners.remove(listener)
            _told(listener.close)


def _told(call: Callable[..., object], *arguments: Any) -> bool:
    """Whether a listener took something in: a run does not end with what only looks on."""
    try:
        call(*arguments)
    except Exception as error:  # anyone's code may raise anything
        logger.warning("a tracker failed and is told nothing more: %s", error, exc_info=True)
        return False
    return True
