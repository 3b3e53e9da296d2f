"""An action to show people: one that its schema lets pass, with no more than it needs."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from openenv.server.info import json_schema

Json = dict[str, Any]

_DEEP = 4
"""From here on what may be null is, so that what may hold its own kind comes to an end."""
_MOST_DEPTH = 64
_MOST_PARTS = 1000
_TEXT = "hello"
_MOST_CHARACTERS = 1000
_MOST_ITEMS = 100
_NULL = {"type": "null"}


def sample_action(action_cls: Any) -> Json | None:
    """An action that is taken; `None` where none could be made up.

    Args:
        action_cls: the actions' class, or a union of classes: then it is one of the first.

    Returns:
        The fields that it needs, or the first of all where it needs none. What may be chosen is
        the first choice, and a list is as short as it may be.
    """
    schema = json_schema(action_cls)
    names = [name for name in schema.get("properties", {}) if name != "metadata"]
    if names and not schema.get("required"):
        schema = {**schema, "required": names[:1]}
    try:
        made = _Sampler(schema.get("$defs", {})).value(schema)
        TypeAdapter(action_cls).validate_json(json.dumps(made))
    except Exception:  # noqa: BLE001  # the author's rules have run, and may raise anything
        return None
    return made if isinstance(made, dict) else None


class _Sampler:
    """Makes up values with one schema's definitions at hand."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions
        self._parts = 0

    def value(self, schema: Any, depth: int = 0) -> Any:
        """A value.

        Raises:
            ValueError: there is none, as the schema refers to itself without an end.
        """
        self._parts += 1
        if depth > _MOST_DEPTH or self._parts > _MOST_PARTS:
            raise ValueError("it has no end")
        if not isinstance(schema, dict):
            return None
        if (told := _told(schema)) is not None:
            return told
        if "$ref" in schema:
            name = str(schema["$ref"]).rpartition("/")[2]
            return self.value(self._definitions[name], depth + 1)
        if options := _options(schema):
            null = depth >= _DEEP and _NULL in options
            return None if null else self.value(options[options[0] == _NULL], depth + 1)
        return self._typed(schema, depth)

    def _typed(self, schema: Json, depth: int) -> Any:
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind in ("integer", "number"):
            return _number(schema, 1 if kind == "integer" else 0.5)
        if kind == "boolean":
            return True
        shortest = min(schema.get("minLength", 0), _MOST_CHARACTERS)
        return _TEXT.ljust(shortest, "o")[: schema.get("maxLength", _MOST_CHARACTERS)]

    def _object(self, schema: Json, depth: int) -> Json:
        """What is required, and the tag that tells classes apart though it has a default."""
        required = schema.get("required", ())
        return {
            name: self.value(told, depth + 1)
            for name, told in schema.get("properties", {}).items()
            if name in required or "const" in told
        }

    def _array(self, schema: Json, depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        more = min(schema.get("minItems", 0), _MOST_ITEMS) - len(first)
        parts = [*first, *[schema.get("items", {})] * more]
        return [self.value(part, depth + 1) for part in parts]


def _options(schema: Json) -> list[Any]:
    """The schemas of which a value fits one."""
    return next((schema[key] for key in ("anyOf", "oneOf", "allOf") if schema.get(key)), [])


def _told(schema: Json) -> Any:
    """The first of the values that a schema names; `None` if it names none."""
    named = [schema.get("const"), schema.get("default")]
    listed = [*schema.get("enum", ()), *schema.get("examples", ())]
    return next((value for value in [*named, *listed] if value not in (None, "")), None)


def _number(schema: Json, margin: float) -> Any:
    """The least value, or the largest where that has no end; one if neither has."""
    if "minimum" in schema:
        return schema["minimum"]
    if "exclusiveMinimum" in schema:
        return schema["exclusiveMinimum"] + margin
    if "exclusiveMaximum" in schema:
        return schema["exclusiveMaximum"] - margin
    return schema.get("maximum", 1)
