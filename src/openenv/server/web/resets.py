"""The form of a reset: what an environment's `reset` and its options take, as a JSON schema."""

from __future__ import annotations

import inspect
import typing
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from openenv.env.docstrings import Docstring
from openenv.env.environment import overrides
from openenv.env.options import Options
from openenv.protocol.wire import ResetRequest
from openenv.server.info import json_schema

_NAMED = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def reset_schema(made: type[Any] | None) -> dict[str, Any]:
    """What a reset may be told; values that are left out are the environment's own choice.

    Args:
        made: the environment's class; `None` where that is not known.

    Returns:
        The schema of an object: `seed` if the environment takes one, `episode_id`, the other
        keywords of its `reset`, and its options. Nothing in it is required that a reset can do
        without.
    """
    whole: dict[str, Any] = json_schema(ResetRequest)
    whole = {"type": "object", "title": "Reset", "properties": whole["properties"]}
    function = None if made is None else _reset(made)
    parameters = {} if function is None else dict(inspect.signature(function).parameters)
    takes_any = function is None or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if not takes_any and "seed" not in parameters:
        del whole["properties"]["seed"]
    options = made.OPTIONS if made is not None else None
    if function is not None:
        _add_keywords(whole, function, list(parameters.values())[1:])
    if options is not None:
        _add_options(whole, options)
    whole["additionalProperties"] = takes_any and options is None
    return whole


def _reset(made: type[Any]) -> Any:
    return made.reset_async if overrides(made, "reset_async") else made.reset


def _add_keywords(whole: dict[str, Any], function: Any, parameters: list[Any]) -> None:
    """Adds the environment's own keywords, with what its docstring says of each."""
    said = Docstring.of(function).arguments
    hints = _hints(function)
    for parameter in parameters:
        name = parameter.name
        if name in said:
            whole["properties"].get(name, {}).setdefault("description", said[name])
        if parameter.kind not in _NAMED or name in whole["properties"]:
            continue
        told = _described(hints.get(name, Any))
        if name in said:
            told.setdefault("description", said[name])
        _add(whole, name, {**told, **_default(parameter.default)})
        if parameter.default is parameter.empty:
            whole.setdefault("required", []).append(name)


def _add_options(whole: dict[str, Any], options: type[Options]) -> None:
    """Adds the options. What a variable of the server's says is not told, only that it may."""
    told = json_schema(options)
    whole.setdefault("$defs", {}).update(told.get("$defs", {}))
    by_variables = options.from_variables().model_fields_set
    for name, schema in told.get("properties", {}).items():
        if name in by_variables:
            schema.pop("default", None)
        whole["properties"].setdefault(name, schema)


def _add(whole: dict[str, Any], name: str, told: dict[str, Any]) -> None:
    for definition, schema in told.pop("$defs", {}).items():
        whole.setdefault("$defs", {}).setdefault(definition, schema)
    told.setdefault("title", name.replace("_", " ").capitalize())
    whole["properties"][name] = told


def _described(annotation: Any) -> dict[str, Any]:
    """The schema of a keyword; anything where its type says nothing that JSON knows."""
    try:
        TypeAdapter(annotation)
    except PydanticUserError:
        return {}
    return json_schema(annotation)


def _default(value: Any) -> dict[str, Any]:
    if value is inspect.Parameter.empty:
        return {}
    try:
        return {"default": to_jsonable_python(value)}
    except PydanticSerializationError:
        return {}


def _hints(function: Any) -> dict[str, Any]:
    """A function's annotations, none where they cannot be resolved."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, AttributeError):
        return {}
