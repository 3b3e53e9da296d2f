"""Tools as methods with types and docstrings, from which TRL makes what the model is told."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Literal, Protocol, Union

from openenv.env.tool_models import Tool
from openenv.protocol.errors import ConfigurationError, Json

_TYPES: dict[Any, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "shortest length",
    "maxLength": "greatest length",
    "default": "by default",
}
_DEEPEST = 8
"""References of a schema that are followed, one inside another; some contain themselves."""
_SECTION = re.compile(
    r"^\s*(Args|Arguments|Parameters|Returns|Raises|Examples?):\s*$", re.MULTILINE
)
_HEADING = re.compile(r"\b(Args|Returns|Raises):")


class Calls(Protocol):
    """What has the tools."""

    def _call(self, name: str, arguments: Json) -> str:
        """Calls one; gives what the model reads."""


def method_of(tool: Tool) -> Callable[..., str]:
    """A method that calls a tool by `self._call`, as TRL's schema maker wants it.

    It has the tool's name, a type for each argument, and a Google docstring that describes each.

    Raises:
        ConfigurationError: an argument that must be given has a name that Python does not allow.
    """

    def method(self: Calls, /, **arguments: Any) -> str:
        return self._call(tool.name, arguments)

    parameters = _parameters(tool)
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([receiver, *parameters])
    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = _docstring(tool, parameters)
    method.__annotations__ = {each.name: each.annotation for each in parameters}
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _parameters(tool: Tool) -> list[inspect.Parameter]:
    """The arguments, those first that must be given."""
    required = tool.input_schema.get("required", [])
    found = []
    for name, schema in _fields(tool).items():
        default = inspect.Parameter.empty if name in required else schema.get("default")
        kind = inspect.Parameter.KEYWORD_ONLY
        hint = _hint(schema, tool.input_schema)
        try:
            found.append(inspect.Parameter(name, kind, default=default, annotation=hint))
        except ValueError as error:
            if name not in required:
                continue  # a model can do without what it cannot name
            raise ConfigurationError(
                f"the tool {tool.name!r} must be given {name!r}, which is no name of an argument "
                "in Python, so TRL cannot describe it: rename it in the environment"
            ) from error
    return sorted(found, key=lambda parameter: parameter.name not in required)


def _fields(tool: Tool) -> dict[str, Json]:
    fields: dict[str, Json] = tool.input_schema.get("properties") or {}
    return {name: schema if isinstance(schema, dict) else {} for name, schema in fields.items()}


def _docstring(tool: Tool, parameters: list[inspect.Parameter]) -> str:
    section = _SECTION.search(tool.description)
    said = tool.description[: section.start()] if section else tool.description
    lines = [_plain(said) or tool.name.replace("_", " ")]
    if parameters:
        fields = _fields(tool)
        told = [
            f"    {each.name}: {_described(each.name, fields[each.name])}" for each in parameters
        ]
        lines += ["", "Args:", *told]
    return "\n".join(lines)


def _described(name: str, schema: Json) -> str:
    bounds = [f"{words} {schema[key]}" for key, words in _BOUNDS.items() if _says(schema, key)]
    said = _plain(str(schema.get("description") or schema.get("title") or name))
    return f"{said} ({', '.join(bounds)})" if bounds else said


def _says(schema: Json, key: str) -> bool:
    return schema.get(key) is not None and not isinstance(schema[key], dict | list)


def _plain(text: str) -> str:
    """A text in one line, without what would be read as a heading of a docstring."""
    return _HEADING.sub(r"\1 -", " ".join(text.split()))


def _hint(schema: Json, whole: Json, depth: int = 0) -> Any:
    """The Python type of a JSON schema; `Any` where there is none."""
    if "$ref" in schema:
        return dict if depth > _DEEPEST else _hint(_referred(schema, whole), whole, depth + 1)
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values and all(isinstance(value, str | int | float | None) for value in values):
        return Literal[tuple(values)]
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return Union[tuple(_hint(option, whole, depth + 1) for option in options)]  # noqa: UP007
    kind = schema.get("type")
    if isinstance(kind, list):
        return Union[tuple(_TYPES.get(each, Any) for each in kind)]  # noqa: UP007
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict) and items:
        return list[_hint(items, whole, depth + 1)]  # type: ignore[misc]
    return _TYPES.get(kind, Any)


def _referred(schema: Json, whole: Json) -> Json:
    found: Any = whole
    for key in str(schema["$ref"]).lstrip("#/").split("/"):
        found = found.get(key, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, dict) else {}
