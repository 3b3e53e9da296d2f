"""Counting: an environment in which a lost, repeated or misplaced step shows."""

from __future__ import annotations

import time
from typing import Any

from openenv.client.env_client import EnvClient
from openenv.env.environment import Environment
from openenv.env.models import Action, Observation, State


class Add(Action):
    """Adds to the count.

    Attributes:
        amount: how much.
        last: whether the episode ends with it.
        pause_s: seconds that the step takes.
        payload: bytes that the observation repeats.
    """

    amount: int = 1
    last: bool = False
    pause_s: float = 0.0
    payload: bytes = b""


class Count(Observation):
    """Where the count is.

    Attributes:
        count: the sum of the amounts since the reset.
        ordinal: how many steps were taken since the reset.
        episode: the `episode_id` that the reset was given.
        resets: how many resets this environment has seen.
        payload: that of the action.
    """

    count: int = 0
    ordinal: int = 0
    episode: str = ""
    resets: int = 0
    payload: bytes = b""


class Tally(State):
    """All that happened in the episode.

    Attributes:
        count: as in the observation.
        resets: likewise.
        amounts: what was added, in order.
    """

    count: int = 0
    resets: int = 0
    amounts: list[int] = []


class Counting(Environment[Add, Count, Tally]):
    """Adds up what it is given, and reports everything that was done to it.

    What an agent did can be compared with what the environment saw: a step that was lost is
    missing from `state().amounts`, one that ran twice is in it twice, and one that ran in another
    episode, or in another environment, shows in `episode`, `ordinal` and `resets`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._tally = Tally()

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> Count:
        """Begins to count from the seed, or from 0."""
        self._tally = Tally(
            episode_id=episode_id, count=seed or 0, resets=self._tally.resets + 1, amounts=[]
        )
        return self._observe(done=False)

    def step(self, action: Add) -> Count:
        """Adds the action's amount, which is also the step's reward."""
        if action.pause_s:
            time.sleep(action.pause_s)
        tally = self._tally
        tally.amounts.append(action.amount)
        tally.step_count += 1
        tally.count += action.amount
        return self._observe(done=action.last, reward=float(action.amount), payload=action.payload)

    @property
    def state(self) -> Tally:
        """Where the episode stands."""
        return self._tally

    def _observe(self, **fields: Any) -> Count:
        tally = self._tally
        return Count(
            count=tally.count,
            ordinal=tally.step_count,
            episode=tally.episode_id or "",
            resets=tally.resets,
            **fields,
        )


class CountingClient(EnvClient[Add, Count, Tally]):
    """The counting environment's client."""
