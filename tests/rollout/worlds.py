"""An environment that does on request what a pool has to cope with, and its client."""

import os
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

from openenv import Action, EnvClient, Environment, Observation, State


class Order(Action):
    order: str


class Seen(Observation):
    session: str
    episode: int
    step: int
    seed: int | None = None
    options: list[str] = []
    pair: list[int] = []
    word: str = ""


class Soldier(Environment[Order, Seen, State]):
    """Follows orders, of which the last word counts.

    `end` and `cut` end the episode, `raise` raises, `stay PATH` leaves a mark there and stays until
    the file `go` is beside it, `die` is the end of the process. Everything else is a step.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._session = uuid4().hex
        self._episode = 0
        self._state = State()
        self._begin: dict[str, Any] = {}

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> Seen:
        if kwargs.get("refuse") or (kwargs.get("once") and self._episode):
            raise ValueError("this soldier does not begin")
        self._episode += 1
        self._state = State(episode_id=episode_id)
        self._begin = {"seed": seed, "options": sorted(kwargs)}
        return self._look("ready")

    def step(self, action: Order) -> Seen:
        word, _, path = action.order.partition(" ")
        if word == "raise":
            raise ValueError("the soldier fell")
        if word == "die":
            os._exit(3)
        if word == "stay":
            stay(Path(path))
        self._state.step_count += 1
        done = word in ("end", "cut")
        return self._look(word, done=done, truncated=word == "cut", reward=self._state.step_count)

    @property
    def state(self) -> State:
        return self._state

    def _look(self, word: str, **values: Any) -> Seen:
        step = self._state.step_count
        values |= self._begin
        return Seen(
            session=self._session,
            episode=self._episode,
            step=step,
            pair=[step, self._episode],
            word=word,
            **values,
        )


def stay(mark: Path) -> None:
    """Leaves a mark, and stays until a file `go` is beside it."""
    mark.touch()
    deadline = time.monotonic() + 15.0
    while not (mark.parent / "go").exists() and time.monotonic() < deadline:
        time.sleep(0.005)


class SoldierClient(EnvClient[Order, Seen, State]):
    """The soldier's client."""
