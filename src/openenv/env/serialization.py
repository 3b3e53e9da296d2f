"""Actions and observations to and from plain JSON data, outside any server."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic_core import from_json

from openenv.env.models import Observation, pack, validate

ActionT = TypeVar("ActionT", bound=BaseModel)


def deserialize_action(data: dict[str, Any], action_cls: type[ActionT]) -> ActionT:
    """An action from its JSON data.

    Raises:
        pydantic.ValidationError: the data does not fit.
    """
    return validate(action_cls, data)


def serialize_observation(observation: Observation) -> dict[str, Any]:
    """The wire form of an observation: `observation`, `reward`, `done`, non-empty `metadata`."""
    wire: dict[str, Any] = from_json(pack(observation))
    return wire
