"""Gymnasium environments of the tests' own."""

import os
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from gymnasium import Space, spaces
from gymnasium.utils.env_checker import data_equivalence


class Mirror(gymnasium.Env[Any, Any]):
    """Shows the samples of one space, and pays 1 for the like samples of another.

    After `reset(seed=s)` both are drawn as a space that was seeded with `s` draws them.
    """

    def __init__(self, observation_space: Space[Any], action_space: Space[Any]) -> None:
        self.observation_space = deepcopy(observation_space)
        self.action_space = deepcopy(action_space)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.action_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        expected = self.action_space.sample()
        right = self.action_space.contains(action) and same(action, expected)
        return self.observation_space.sample(), float(right), False, False, {}


def same(one: Any, other: Any) -> bool:
    """Whether two samples are alike to the last bit."""
    return bool(data_equivalence(plain(one), plain(other), exact=True))


def plain(value: Any) -> Any:
    """A sample in which numpy's integers are Python's."""
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, tuple):  # graphs too
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


class Countdown(gymnasium.Env[Any, Any]):
    """Counts down from `start`, by what it is told; it can do all that goes wrong elsewhere.

    Actions: 0 waits, 1 counts; of a faulty one also 2, which raises, and 3, which ends the process.
    """

    metadata = {"render_modes": ["human", "rgb_array", "rgb_array_list", "ansi"], "render_fps": 5}

    def __init__(
        self, start: int = 3, render_mode: str | None = None, faulty: bool = False
    ) -> None:
        self.observation_space = spaces.Box(0.0, 100.0, (2,), np.float32)
        self.action_space = spaces.Discrete(4 if faulty else 2)
        self.render_mode = render_mode
        self._start = self._left = start
        self._waited = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._left = int((options or {}).get("start", self._start))
        self._waited = 0
        return self._seen(), {"options": options, "lucky": int(self.np_random.integers(100))}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if action == 2:
            raise RuntimeError("the wire broke")
        if action == 3:
            os._exit(3)
        self._left -= action
        self._waited += 1
        info: dict[Any, Any] = {
            "left": np.int64(self._left),
            "waited": np.array([self._waited]),
            "nested": {"deep": (1, 2.5), "not": object()},
            "self": self,
            3: "three",
        }
        return self._seen(), float(action), self._left <= 0, self._waited >= 5, info

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return f"{self._left} left"
        return np.full((4, 6, 3), self._left, np.uint8)

    def _seen(self) -> Any:
        return np.array([self._left, self._waited], np.float32)
