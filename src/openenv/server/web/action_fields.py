"""An action's fields as those of a form, for custom pages."""

from __future__ import annotations

from typing import Any

from openenv.server.info import json_schema

Field = dict[str, Any]

_KINDS = {"boolean": "checkbox", "integer": "number", "number": "number"}
_LONG_TEXTS = frozenset({"message", "code", "prompt", "text", "content"})
_LONG = 200
"""Characters from which on a text wants more than one line."""


def action_fields(action_cls: Any) -> list[Field]:
    """What a form needs to know of each field; nothing of `metadata`.

    Args:
        action_cls: the action's class.

    Returns:
        For each field its `name`, `type` (`text`, `textarea`, `number`, `checkbox`, `select` or
        `tensor`), `required`, `description`, `default_value`, `choices`, `min_value`, `max_value`,
        `min_length`, `max_length`, `pattern`, `placeholder` and `help_text`. A union of classes
        has no fields: its form is JSON.
    """
    schema = json_schema(action_cls)
    required = set(schema.get("required", ()))
    return [
        _field(name, _plain(told, schema.get("$defs", {})), name in required)
        for name, told in schema.get("properties", {}).items()
        if name != "metadata" and "const" not in told
    ]


def _plain(told: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """A field's schema without references, and of an optional one the part that is not null."""
    options = [part for part in told.get("anyOf", ()) if part.get("type") != "null"]
    inner = options[0] if len(options) == 1 else told.get("allOf", [{}])[0]
    merged = {**inner, **told}
    target = known.get(str(merged.get("$ref", "")).rpartition("/")[2], {})
    return {**target, **merged, "description": told.get("description", "")}


def _field(name: str, told: dict[str, Any], required: bool) -> Field:
    kind = _kind(name, told)
    words = name.replace("_", " ")
    hint = "comma-separated whole numbers (1, 2, 3)" if kind == "tensor" else f"{words}..."
    return {
        "name": name,
        "type": kind,
        "required": required,
        "description": told["description"],
        "default_value": told.get("default"),
        "choices": told.get("enum"),
        "min_value": told.get("minimum"),
        "max_value": told.get("maximum"),
        "min_length": told.get("minLength"),
        "max_length": told.get("maxLength"),
        "pattern": told.get("pattern"),
        "placeholder": f"Enter {hint}",
        "help_text": told["description"],
    }


def _kind(name: str, told: dict[str, Any]) -> str:
    if "enum" in told:
        return "select"
    if name == "tokens":
        return "tensor"
    kind = told.get("type")
    if kind == "string" and (name in _LONG_TEXTS or told.get("maxLength", 0) > _LONG):
        return "textarea"
    return _KINDS.get(str(kind), "text")
