"""Stage: an environment that can be played, wherever it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property

from openenv.protocol.errors import (
    EnvironmentFailed,
    InvalidRequest,
    ResetRequired,
    SessionCapacityError,
)
from openenv.rollout.made_up.calls import Player
from openenv.rollout.made_up.fitting import Json
from openenv.testing.trajectory import Plan, Trajectory, difference, play

PATIENCE_S = 5.0
BUDGET_S = 10.0
"""How long one trajectory may take, if its actions were made up."""


@dataclass
class Stage:
    """An environment that can be played, wherever it is.

    Attributes:
        client: makes a client that has not connected yet.
        schemas: what it says of its `action`, `observation`, `state` and `reset_observation`.
        plan: what is done to it.
        reward_range: what its rewards must lie in; `None` if it does not say.
        reward_tolerance: by how much the rewards of the same actions may differ.
        capacity: how many sessions it holds at once; `None` if it does not say.
        remote: it lives behind a socket.
    """

    client: Callable[[], Player]
    schemas: Json
    plan: Plan
    reward_range: tuple[float, float] | None = None
    reward_tolerance: float = 0.0
    capacity: int | None = None
    remote: bool = False

    def difference(self, first: Trajectory, second: Trajectory) -> str | None:
        """Where two trajectories of the same plan part; `None` if they are the same."""
        return difference(first, second, self.reward_tolerance)

    @contextmanager
    def session(self, patience_s: float = PATIENCE_S) -> Iterator[Player]:
        """A session, until the block ends.

        Args:
            patience_s: how long to wait for a slot, which a server may free a little late.

        Raises:
            SessionCapacityError: none was free in time.
        """
        client = self._seated(time.monotonic() + patience_s)
        try:
            yield client
        finally:
            client.close()

    def _seated(self, deadline: float) -> Player:
        while True:
            client = self.client()
            try:
                client.connect()
                if self.remote and client.protocol == "v1":  # which is told at the first call
                    with suppress(EnvironmentFailed, InvalidRequest):
                        client.state()
                return client
            except SessionCapacityError:
                client.close()
                if time.monotonic() > deadline:
                    raise
            except BaseException:
                client.close()
                raise
            time.sleep(0.05)

    def played(self, plan: Plan | None = None, *, look: bool = False) -> Trajectory:
        """The trajectory of a plan in a session of its own."""
        with self.session() as client:
            return list(play(client, plan or self.plan, look=look))

    @cached_property
    def rehearsal(self) -> Trajectory:
        """The trajectory of the plan, with the state after every call; played once.

        If actions that were made up take long, there are fewer of them from then on.
        """
        turns: Trajectory = []
        deadline = time.monotonic() + BUDGET_S
        with self.session() as client:
            try:
                for turn in play(client, self.plan, look=True):
                    turns.append(turn)
                    if self.plan.generated and time.monotonic() > deadline and _may_end(turns):
                        break
            except ResetRequired:  # by the step before, which has said what is wrong
                if not turns or turns[-1].refusal is None:
                    raise
        actions = [turn.action for turn in turns if turn.action is not None]
        self.plan = replace(self.plan, actions=actions)
        return turns


def _may_end(turns: Trajectory) -> bool:
    """Whether a plan that is played again ends here, too: an end is followed by a reset."""
    ended = turns[-1].result is not None and turns[-1].action is not None and turns[-1].result.done
    return len(turns) > 1 and not ended
