"""An environment that does on request what collecting and replaying have to cope with."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from openenv import Action, Environment, Observation
from openenv.rollout import Beginning, Trajectory, Transition
from tests.serving import Served, serving


class Go(Action):
    """One step.

    `end` ends the episode, `cut` truncates it, `raise` raises, `nan` has no number for a reward,
    `die` is the end of the process; everything else is a step.
    """

    word: Literal["left", "right", "end", "cut", "raise", "nan", "die"]


class Room(Observation):
    number: int
    walked: list[str]


class Hall(Environment[Go, Room]):
    """Its rooms are drawn by the seed, unless it is told to be `careless`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, careless: bool = False
    ) -> Room:
        self._chance = random.Random(None if careless else seed)
        self._walked: list[str] = []
        return self._room()

    def step(self, action: Go) -> Room:
        word = action.word
        if word == "raise":
            raise RuntimeError("the floor gave way")
        if word == "die":
            os._exit(3)
        self._walked.append(word)
        reward = float("nan") if word == "nan" else float(len(self._walked))
        return self._room(done=word in ("end", "cut"), truncated=word == "cut", reward=reward)

    def _room(self, **outcome: Any) -> Room:
        number = self._chance.randrange(1_000_000)
        return Room(number=number, walked=list(self._walked), **outcome)


@contextmanager
def halls(**options: Any) -> Iterator[tuple[Served, str]]:
    """A server of halls, and its address."""
    if "limits" not in options:
        options.setdefault("max_concurrent_envs", 16)
    with serving(Hall, **options) as served:
        yield served, f"http://127.0.0.1:{served.port}"


def walk(*words: str) -> Any:
    """A policy that says these words, and then stops."""

    def act(seen: dict[str, Any]) -> dict[str, Any] | None:
        walked = len(seen["walked"])
        return {"word": words[walked]} if walked < len(words) else None

    return act


stroll = walk("left", "right", "end")


def recorded(number: int = 0, **fields: Any) -> Trajectory:
    """An episode of two steps that nobody played."""
    steps = [
        Transition(action={"word": "left"}, observation={"number": 2, "walked": ["left"]}),
        Transition(
            action={"word": "end"},
            observation={"number": 3, "walked": ["left", "end"]},
            reward=1.0,
            terminated=True,
        ),
    ]
    own: dict[str, Any] = {
        "episode_id": f"ep-{number:06d}",
        "seed": number,
        "environment": {"name": "Hall", "version": None},
        "openenv_version": "0",
        "policy": "nobody",
        "options": {},
        "started_at": "2026-01-31T12:00:00+00:00",
        "reset": Beginning(observation={"number": 1, "walked": []}),
        "steps": steps,
        "end": "terminated",
    }
    return Trajectory(**{**own, **fields})
