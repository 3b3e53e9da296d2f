"""Actions and observations to and from plain JSON data, outside any server."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
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


def deserialize_action_with_preprocessing(
    data: dict[str, Any], action_cls: type[ActionT]
) -> ActionT:
    """An action from what a form gave: as `deserialize_action`, of `prepared_action(data)`.

    `tokens` become a tensor where the class says that they are one of PyTorch's.

    Raises:
        pydantic.ValidationError: the data does not fit.
    """
    read = prepared_action(data)
    torch = sys.modules.get("torch")
    field = action_cls.model_fields.get("tokens")
    if torch is not None and field is not None and field.annotation is torch.Tensor:
        read["tokens"] = torch.tensor(read.get("tokens", []), dtype=torch.long)
    return deserialize_action(read, action_cls)


def prepared_action(data: dict[str, Any]) -> dict[str, Any]:
    """An action's data, where forms give text for what has no field of its own kind.

    `arguments` of a tool's call may be JSON, `action_id` a whole number, and `tokens` a list of
    whole numbers, in brackets or not. What cannot be read is left for validation to refuse.
    """
    read = dict(data)
    for name, reading in _READINGS.items():
        text = data.get(name)
        if isinstance(text, str):
            with suppress(ValueError):
                read[name] = reading(text)
    return read


def _tokens(text: str) -> Any:
    return from_json(text if text.lstrip().startswith("[") else f"[{text}]")


_READINGS: dict[str, Callable[[str], Any]] = {
    "arguments": from_json,
    "action_id": int,
    "tokens": _tokens,
}
