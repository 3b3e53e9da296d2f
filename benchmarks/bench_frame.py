"""An environment that shows pictures of the size of an Atari screen.

Each package shows them in the form it has for them: ours as an `NDArray` where it knows one, the
peer as nested lists, which is all that its JSON carries.
"""

from typing import Any

import numpy as np

from openenv.core.env_server import Action, Environment, Observation, State

try:
    from openenv import NDArray
except ImportError:  # the peer
    Picture: Any = list[list[list[int]]]
    BY_LISTS = True
else:
    Picture = NDArray["uint8", (210, 160, 3)]
    BY_LISTS = False

SHAPE = (210, 160, 3)


class FrameAction(Action):
    n: int = 1


class FrameObservation(Observation):
    frame: Picture


class FrameEnv(Environment[FrameAction, FrameObservation, State]):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._frames = np.random.default_rng(0).integers(0, 256, (4, *SHAPE), np.uint8)
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> FrameObservation:
        self._state = State(episode_id=episode_id, step_count=0)
        return self._look()

    def step(
        self, action: FrameAction, timeout_s: float | None = None, **kwargs: Any
    ) -> FrameObservation:
        self._state.step_count += action.n
        return self._look()

    @property
    def state(self) -> State:
        return self._state

    def _look(self) -> FrameObservation:
        frame = self._frames[self._state.step_count % len(self._frames)].copy()
        return FrameObservation(frame=frame.tolist() if BY_LISTS else frame, reward=0.0)
