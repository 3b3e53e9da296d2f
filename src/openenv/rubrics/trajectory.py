"""Rewards that are known when an episode ends."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from openenv._flow import Flow
from openenv.rubrics.base import FlowRubric
from openenv.rubrics.settling import Effect

Trajectory = list[tuple[Any, Any]]
"""The actions of an episode and the observation that followed each."""


class TrajectoryRubric(FlowRubric):
    """Scores an episode when it ends; until then each step is worth `intermediate_reward`.

    Write `score_trajectory` (as `def` or `async def`) and `compute_step_rewards`. A session begins
    the trajectory anew with each reset.

    Args:
        intermediate_reward: the score of a step that does not end the episode.
    """

    EXPLAINED: ClassVar[tuple[str, ...]] = ("intermediate_reward",)

    def __init__(self, intermediate_reward: float = 0.0) -> None:
        super().__init__()
        self.intermediate_reward = intermediate_reward
        self._trajectory: Trajectory = []
        self._final: float | None = None

    @abstractmethod
    def score_trajectory(self, trajectory: Trajectory) -> Any:
        """What the whole episode is worth; something to await for it, if async."""

    @abstractmethod
    def compute_step_rewards(self) -> list[float]:
        """What each step of the trajectory is worth, for a trainer; asked for at the end."""

    def flow(self, action: Any, observation: Any) -> Flow[Effect, float]:
        """The trajectory's score if it has ended."""
        self._trajectory.append((action, observation))
        self._final = None
        if not ended(observation):
            return self.intermediate_reward
        [self._final] = yield [self.score_trajectory(self.trajectory)]
        return self._final

    @property
    def trajectory(self) -> Trajectory:
        """The steps since the last reset; a copy."""
        return list(self._trajectory)

    def reset(self) -> None:
        """Forgets the steps."""
        super().reset()
        self._trajectory.clear()
        self._final = None

    def state_dict(self) -> dict[str, Any]:
        """`intermediate_reward`, and what those below it keep."""
        return {"intermediate_reward": self.intermediate_reward, **super().state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state_dict` gave; what is missing stays."""
        super().load_state_dict(state)
        self.intermediate_reward = state.get("intermediate_reward", self.intermediate_reward)


class ExponentialDiscountingTrajectoryRubric(TrajectoryRubric):
    """Credits each of an episode's `T` steps with `gamma ** (T - 1 - t)` of its score.

    Write `score_trajectory`.

    Args:
        gamma: the discount, 0 to 1.
        intermediate_reward: the score of a step that does not end the episode.

    Raises:
        ValueError: `gamma` is not from 0 to 1.
    """

    EXPLAINED = ("gamma", "intermediate_reward")

    def __init__(self, gamma: float = 0.99, intermediate_reward: float = 0.0) -> None:
        super().__init__(intermediate_reward)
        self.gamma = _discount(gamma)

    def compute_step_rewards(self) -> list[float]:
        """The credit of each step, in order; empty without steps.

        Raises:
            TypeError: `score_trajectory` is async and the episode has not ended.
        """
        if not self._trajectory:
            return []
        final = self._final
        if final is None:
            final = float(self.score_trajectory(self.trajectory))
        last = len(self._trajectory) - 1
        return [self.gamma ** (last - step) * final for step in range(last + 1)]

    def state_dict(self) -> dict[str, Any]:
        """`gamma`, and what a trajectory rubric keeps."""
        return {**super().state_dict(), "gamma": self.gamma}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes over what `state_dict` gave.

        Raises:
            ValueError: its `gamma` is not from 0 to 1.
        """
        self.gamma = _discount(state.get("gamma", self.gamma))
        super().load_state_dict(state)


def ended(observation: object) -> bool:
    """Whether an observation ends its episode, for either reason."""
    done = bool(getattr(observation, "done", False))
    return done or getattr(observation, "truncated", False) is True


def _discount(gamma: float) -> float:
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma must be between 0 and 1, got {gamma}")
    return gamma
