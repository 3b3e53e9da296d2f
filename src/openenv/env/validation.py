"""How the wire's data becomes models: the one way for JSON and for MessagePack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from openenv.env.schemas import nodes
from openenv.protocol.values import unusual

_ALIKE = frozenset({"str", "int", "float", "bool", "bytes", "list", "dict"})
"""Kinds of schemas that are as strict with the wire's data in Python mode as in JSON mode."""


def validator(adapter: TypeAdapter[Any]) -> Callable[[dict[str, Any]], Any]:
    """How to validate the wire's data: as Python values.

    So bytes and arrays may be what they are, or what JSON has for them: text for `bytes` is read as
    the model's `val_json_bytes` says.

    Strict fields are for values that the wire has no form for (an enum's member, a tuple): only
    JSON mode reads them from what it has.
    """
    if is_strict(adapter.core_schema):
        return lambda data: adapter.validate_json(
            to_json(data, bytes_mode="base64", inf_nan_mode="constants", fallback=unusual)
        )
    return adapter.validator.validate_python


def is_strict(schema: Any) -> bool:
    """Whether a schema has strict fields of which JSON mode takes other values."""
    return any(
        (node.get("strict") and node["type"] not in _ALIKE) or node.get("config", {}).get("strict")
        for node in nodes(schema)
    )
