"""A policy for any environment: actions made up from their JSON schema, at random by a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from openenv.rollout.made_up.calls import calls
from openenv.rollout.made_up.fitting import Json, Schema
from openenv.rollout.made_up.samples import samples

_CHOICES = 32


class ScriptedPolicy:
    """Chooses among sample actions; where an observation lists `legal_actions`, among those.

    Args:
        schema: the JSON schema of the environment's actions.
        seed: the same seed chooses the same.
        tools: those of an environment whose actions are calls of them.

    Raises:
        NoSample: no action can be made up from the schema, or of no tool a call.
    """

    def __init__(
        self, schema: Schema, seed: int | None = None, tools: Sequence[Json] | None = None
    ) -> None:
        self._actions: list[Json] = (
            samples(schema, _CHOICES) if tools is None else calls(tools, max(_CHOICES, len(tools)))
        )
        self._random = random.Random(seed)

    def __call__(self, observation: Json) -> Json:
        """The next action."""
        legal = observation.get("legal_actions")
        if isinstance(legal, list) and legal:
            return self._random.choice(self._legal(legal))
        return self._random.choice(self._actions)

    def _legal(self, legal: list[Any]) -> list[Json]:
        """Of the actions those that name a legal one, or the legal ones by their `action_id`."""
        fitting = [
            action for action in self._actions if any(value in legal for value in action.values())
        ]
        if any("action_id" in action for action in self._actions):
            return [{**self._actions[0], "action_id": choice} for choice in legal]
        return fitting or self._actions
