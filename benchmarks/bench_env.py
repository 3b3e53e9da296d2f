"""The environment every contestant serves: as little work as a step can be.

Written against the names both packages share, so that each server runs this same file.
"""

from typing import Any
from uuid import uuid4

from openenv.core.env_server import Action, Environment, Observation, State


class BenchAction(Action):
    message: str
    n: int = 1


class BenchObservation(Observation):
    echoed: str = ""
    n: int = 0


class BenchEnv(Environment[BenchAction, BenchObservation, State]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> BenchObservation:
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return BenchObservation(echoed="ready")

    def step(
        self, action: BenchAction, timeout_s: float | None = None, **kwargs: Any
    ) -> BenchObservation:
        self._state.step_count += 1
        return BenchObservation(echoed=action.message, n=action.n, reward=1.0)

    @property
    def state(self) -> State:
        return self._state
