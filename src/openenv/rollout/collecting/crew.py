"""A crew: sessions of one server that play episodes until there are no more."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from openenv.client.generic import GenericEnvClient
from openenv.protocol.errors import ConnectFailed, SessionCapacityError, SessionLost
from openenv.rollout.agreed_lane import AgreedLane
from openenv.rollout.collecting.episodes import Episode, Player, Playing
from openenv.rollout.lanes import Lane, sockets_for, spread
from openenv.rollout.policies.calls import PolicyCalls, PolicyHangs, PolicyThread
from openenv.rollout.policies.environment_spec import EnvironmentSpec
from openenv.rollout.policies.policy import Policy
from openenv.rollout.trajectories.trajectory import Trajectory

LONGEST_PAUSE_S = 2.0
"""Between attempts to reach a server that does not answer."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How episodes are played.

    Attributes:
        sessions: at most how many at the same time; fewer while the server has room for fewer.
        policy_timeout_s: how long a policy may take for an action; `None` for ever.
        timeout_s: how long a step may take; as long as the server allows by default.
        reconnect_s: how long a server that goes away, or has no room at all, is waited for.
    """

    sessions: int = 8
    policy_timeout_s: float | None = 300.0
    timeout_s: float | None = None
    reconnect_s: float = 60.0


class Crew:
    """Plays episodes, several at a time, each of them once.

    Args:
        spec: the environment.
        policy: who plays.
        terms: how.
        keep: is awaited with each trajectory.
        stepped: called after each step.
    """

    def __init__(
        self,
        spec: EnvironmentSpec,
        policy: Policy,
        terms: Terms,
        keep: Callable[[Trajectory], Awaitable[object]],
        stepped: Callable[[], object],
    ) -> None:
        self._spec = spec
        self._policy = policy
        self._terms = terms
        self._keep = keep
        self._stepped = stepped
        self._calls = PolicyCalls(policy.name, terms.policy_timeout_s)
        self._todo: deque[Episode] = deque()
        self._busy = 0
        self._seated: set[int] = set()
        """The slots whose sessions the server holds, as far as is known."""
        self._change = asyncio.Event()

    async def play(self, episodes: Iterable[Episode]) -> None:
        """Plays them all; what is wrong with one ends that one alone.

        Raises:
            ConnectFailed: the server is gone, and does not come back in time.
            SessionCapacityError: it has room for no session at all, and gets none in time.
            PolicyHangs: too many calls of the policy hang.
            OSError: a trajectory could not be kept.
        """
        self._todo.extend(episodes)
        slots = range(min(self._terms.sessions, len(self._todo)))
        lanes = self._lanes(slots)
        try:
            await _all([self._session(lane, slot) for lane, slot in lanes])
        finally:
            await asyncio.gather(*(lane.close() for lane in {lane for lane, _ in lanes}))

    def _lanes(self, slots: range) -> list[tuple[Lane, int]]:
        """Each slot with the lane that carries it."""
        timeout_s = self._terms.timeout_s
        options: dict[str, Any] = {}
        if timeout_s is not None:
            options["message_timeout_s"] = timeout_s
        client = partial(GenericEnvClient, self._spec.base_url, **options)
        shares = spread(slots, sockets_for(slots)) if slots else []
        lanes = [(AgreedLane(share, client, 0.0, timeout_s), share) for share in shares]
        return [(lane, slot) for lane, share in lanes for slot in share]

    async def _session(self, lane: Lane, slot: int) -> None:
        thread = PolicyThread(self._calls)
        player = Player(policy=self._policy, spec=self._spec, calls=self._calls, thread=thread)
        try:
            while (episode := await self._next()) is not None:
                try:
                    trajectory = await self._trajectory(episode, player, lane, slot)
                    if trajectory is None:
                        self._todo.appendleft(episode)
                    else:
                        await self._keep(trajectory)
                finally:
                    self._busy -= 1
                    self._changed()
                if trajectory is None:
                    await self._rest()
        finally:
            thread.close()

    async def _next(self) -> Episode | None:
        """The next episode; `None` when there are no more, and nobody may give one back."""
        while not self._todo:
            if not self._busy:
                return None
            await self._change.wait()
        self._busy += 1
        return self._todo.popleft()

    def _changed(self) -> None:
        self._change.set()
        self._change = asyncio.Event()

    def _tell(self, slot: int, steps: int) -> None:
        """An episode of a slot has begun, or has gone a step further."""
        if steps:
            self._stepped()
        self._seated.add(slot)

    async def _rest(self) -> None:
        """Lets some time pass before a server is asked again that had no room for a session."""
        until = time.monotonic() + LONGEST_PAUSE_S
        while (self._todo or self._busy) and (left_s := until - time.monotonic()) > 0:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._change.wait(), left_s)

    async def _trajectory(
        self, episode: Episode, player: Player, lane: Lane, slot: int
    ) -> Trajectory | None:
        """An episode, played; `None` if the server has room for the other sessions alone."""
        until = time.monotonic() + self._terms.reconnect_s
        pause_s = 0.05
        while True:
            playing = Playing(episode, player, lane, slot, self._tell)
            trajectory = await playing.play()
            failure = playing.failure
            if isinstance(failure, SessionLost | SessionCapacityError | ConnectFailed):
                self._seated.discard(slot)
            if isinstance(failure, PolicyHangs):
                raise failure
            if playing.began or not isinstance(failure, SessionCapacityError | ConnectFailed):
                return trajectory
            if isinstance(failure, SessionCapacityError) and self._seated:
                return None
            if time.monotonic() >= until:
                raise failure
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)


async def _all(work: Iterable[Awaitable[None]]) -> None:
    """Awaits all of them; where one fails, the others are cancelled, and it is raised."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
