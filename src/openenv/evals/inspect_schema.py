"""Schemas of tools in the part of JSON schema that Inspect has words for."""

from __future__ import annotations

from typing import Any

from inspect_ai.tool import ToolParams

from openenv.protocol.errors import Json

_DEEPEST = 8
"""Of references inside one another; a type that contains itself is left open below that."""


def tool_params(schema: Json) -> ToolParams:
    """The arguments of a tool, for a model.

    Inspect has no references, constants or intersections: their meaning is written out.

    Args:
        schema: the JSON schema of an object.
    """
    bare = {key: value for key, value in schema.items() if key != "$defs"}
    plain = _plain(bare, schema.get("$defs", {}))
    properties = {
        name: {"description": name, **field} for name, field in plain.get("properties", {}).items()
    }
    return ToolParams.model_validate(
        {
            "properties": properties,
            "required": plain.get("required", []),
            "additionalProperties": bool(plain.get("additionalProperties", False)),
        }
    )


def _plain(schema: Any, definitions: Json, depth: int = 0) -> Any:
    """A schema without references, `const`, `oneOf` and `allOf`."""
    if isinstance(schema, list):
        return [_plain(each, definitions, depth) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        if depth == _DEEPEST:
            return {}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        found = definitions.get(schema["$ref"].rpartition("/")[2], {})
        return _plain({**found, **beside}, definitions, depth + 1)
    plain: Json = {}
    for key, value in schema.items():
        plain.update(_spelled(key, value, definitions, depth))
    return plain


def _spelled(key: str, value: Any, definitions: Json, depth: int) -> Json:
    """One keyword, as Inspect spells it."""
    if key == "const":
        return {"enum": [value]}
    if key in ("enum", "default", "examples"):  # values, whatever they look like
        return {key: value}
    if key == "properties":
        fields = {name: {} if isinstance(each, bool) else each for name, each in value.items()}
        return {key: {name: _plain(each, definitions, depth) for name, each in fields.items()}}
    if key == "items" and isinstance(value, bool):
        return {}
    plain = _plain(value, definitions, depth)
    if key == "allOf":
        return {word: meaning for each in plain for word, meaning in each.items()}
    return {"anyOf" if key == "oneOf" else key: plain}
