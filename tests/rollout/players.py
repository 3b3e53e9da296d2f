"""Policies that do what a test wants, by the seed of their episode."""

from collections.abc import Callable
from typing import Any

from openenv.harness.collecting.collection import Collection
from openenv.rollout import Act, EnvironmentSpec, Policy
from openenv.rollout.policies.environment_spec import environment_spec

Makes = Callable[[int], Callable[[dict[str, Any]], Any]]


class BySeed(Policy):
    """What plays an episode is made by its seed."""

    name = "by seed"

    def __init__(self, make: Makes) -> None:
        self._make = make

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        play = self._make(seed)
        return lambda result: play(result.observation)


def collection(url: str, make: Makes, **options: Any) -> Collection:
    """Episodes of a server, played so."""
    return Collection(spec=environment_spec(url), policy=BySeed(make), **options)
