"""Policies: what chooses the actions of episodes."""

from __future__ import annotations

import inspect
import random
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from openenv.client.results import StepResult
from openenv.protocol.errors import ConfigurationError, Json
from openenv.rollout.policies.environment_spec import EnvironmentSpec

Choice: TypeAlias = Json | None
"""An action as a plain dict, or `None` to stop."""
Act: TypeAlias = Callable[[StepResult[Json]], Choice | Awaitable[Choice]]
"""What plays one episode: the next action, by the result so far (first that of the reset).

One that has a method `refused` is told of an action that the server refuses, and is asked again;
where there is none, that is an error. One that has `ended` is told of the last result, and one
that has `messages` has them kept in its trajectory.
"""


_LISTS = ("legal_actions", "legal_moves")


class Policy(ABC):
    """Chooses actions. It holds nothing of an episode, and plays many at the same time.

    Attributes:
        name: what trajectories and reports call it.
        blocks: whether its calls may take a while without awaiting: they are made in threads then.
    """

    name: str = "policy"
    blocks: bool = True

    @abstractmethod
    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        """What plays one episode.

        Args:
            seed: of the episode: the same seed plays the same, as far as the policy can.
            spec: what is played.
        """


class RandomPolicy(Policy):
    """Actions at random, made up from the environment's schema or from its tools'.

    Where an observation lists `legal_actions` or `legal_moves`, it is one of those.
    """

    name = "random"
    blocks = False

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        """See `Policy`.

        Raises:
            ConfigurationError: no action can be made up.
        """
        actions = spec.sample_actions
        chance = random.Random(seed)

        def act(result: StepResult[Json]) -> Json:
            return chance.choice(_legal(actions, result.observation))

        return act


class ScriptedPolicy(Policy):
    """A function from what is seen to what is done.

    Args:
        function: given an observation as a plain dict, it returns an action as one, at once or
            awaited; `None` stops the episode.
        name: what reports call it; the function's own by default.
    """

    def __init__(
        self, function: Callable[[Json], Choice | Awaitable[Choice]], name: str | None = None
    ) -> None:
        if not callable(function):
            raise ConfigurationError(
                f"a policy must be a Policy or a function of an observation, got {function!r}"
            )
        self._function = function
        self.blocks = not _awaits(function)
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    def episode(self, seed: int, spec: EnvironmentSpec) -> Act:
        """See `Policy`."""
        return lambda result: self._function(result.observation)


def as_policy(policy: Policy | Callable[[Json], Any]) -> Policy:
    """The policy itself, or the one that a function makes.

    Raises:
        ConfigurationError: it is neither, or has no name.
    """
    player = policy if isinstance(policy, Policy) else ScriptedPolicy(policy)
    if not isinstance(player.name, str) or not player.name:
        raise ConfigurationError(
            f"a policy's name is a text that reports call it by, got {player.name!r}"
        )
    return player


def _legal(actions: list[Json], observation: Json) -> list[Json]:
    """Of the actions those that an observation lists as legal; all, if it lists none of them.

    What is listed is an action's `action_id`, or the value of its one field, or of any field.
    """
    legal = next((listed for name in _LISTS if (listed := observation.get(name))), None)
    if not isinstance(legal, list):
        return actions
    fields = {name for action in actions for name in action}
    name = "action_id" if "action_id" in fields else min(fields, default="")
    fitting = [action for action in actions if any(value in legal for value in action.values())]
    if name == "action_id" or (len(fields) == 1 and _alike(actions[0][name], legal)):
        return [{**actions[0], name: choice} for choice in legal]
    return fitting or actions


def _alike(value: Any, legal: list[Any]) -> bool:
    return all(type(choice) is type(value) for choice in legal)


def _awaits(function: Callable[..., Any]) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
