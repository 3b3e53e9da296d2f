"""Transforms: what changes an observation on its way to the agent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic

from typing_extensions import TypeVar

from openenv.env.models import Observation

ObsT = TypeVar("ObsT", bound=Observation, default=Observation)


class Transform(ABC, Generic[ObsT]):
    """Changes an observation, for example to add a reward or to hide a field."""

    @abstractmethod
    def __call__(self, observation: ObsT) -> ObsT:
        """The observation to hand on."""


class CompositeTransform(Transform[ObsT]):
    """Applies transforms one after another."""

    def __init__(self, transforms: Sequence[Transform[ObsT]]) -> None:
        self.transforms = list(transforms)

    def __call__(self, observation: ObsT) -> ObsT:
        """The observation after all of them."""
        for transform in self.transforms:
            observation = transform(observation)
        return observation


class NullTransform(Transform[ObsT]):
    """Changes nothing."""

    def __call__(self, observation: ObsT) -> ObsT:
        """The observation as it came."""
        return observation
