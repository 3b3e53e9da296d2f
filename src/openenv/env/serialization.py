"""Actions and observations to and from plain JSON data, outside any server."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import from_json

from openenv.env.models import Action, Observation, pack, validate
from openenv.env.tool_models import CallToolAction, ListToolsAction

ActionT = TypeVar("ActionT", bound=BaseModel)
_OF_TOOLS: dict[str, type[Action]] = {"list_tools": ListToolsAction, "call_tool": CallToolAction}
_GENERAL = (Action, *_OF_TOOLS.values())


def deserialize_action(data: dict[str, Any], action_cls: type[ActionT]) -> ActionT:
    """An action from its JSON data.

    Where no class of an environment's own is asked for, `type` may say that it is one of tools.

    Raises:
        pydantic.ValidationError: the data does not fit.
    """
    of_tools = _OF_TOOLS.get(data.get("type", "")) if action_cls in _GENERAL else None
    made: Any = validate(action_cls if of_tools is None else of_tools, data)
    return cast("ActionT", made)


def serialize_observation(observation: Observation) -> dict[str, Any]:
    """The wire form of an observation: `observation`, `reward`, `done`, non-empty `metadata`."""
    wire: dict[str, Any] = from_json(pack(observation))
    return wire
