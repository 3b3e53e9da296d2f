"""Stage: an environment that can be played, wherever it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from openenv.testing.fitting import Json
from openenv.testing.trajectory import Plan, Player, Trajectory, play


@dataclass
class Stage:
    """An environment that can be played, wherever it is.

    Attributes:
        client: makes a client that has not connected yet.
        schemas: what it says of its `action`, `observation`, `state` and `reset_observation`.
        plan: what is done to it.
        reward_range: what its rewards must lie in; `None` if it does not say.
        capacity: how many sessions it holds at once; `None` if it does not say.
    """

    client: Callable[[], Player]
    schemas: Json
    plan: Plan
    reward_range: tuple[float, float] | None = None
    capacity: int | None = field(default=None)

    @contextmanager
    def session(self) -> Iterator[Player]:
        """A session, until the block ends."""
        with self.client() as client:
            yield client

    def played(self, plan: Plan | None = None, *, look: bool = False) -> Trajectory:
        """The trajectory of a plan in a session of its own."""
        with self.session() as client:
            return list(play(client, plan or self.plan, look=look))

    @cached_property
    def rehearsal(self) -> Trajectory:
        """The trajectory of the plan, with the state after every call; played once."""
        return self.played(look=True)
