"""How the wire's data becomes models: the one way for JSON and for MessagePack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import CoreConfig, SchemaValidator, core_schema, to_json

from openenv.env.schemas import Node, nodes, rewritten
from openenv.protocol.values import unusual

_ALIKE = frozenset({"str", "int", "float", "bool", "bytes", "list", "dict"})
"""Kinds of schemas that are as strict with the wire's data in Python mode as in JSON mode."""


def validator(adapter: TypeAdapter[Any]) -> Callable[[dict[str, Any]], Any]:
    """How to validate the wire's data: as Python values, in which text for `bytes` is base64.

    Strict fields take for granted what JSON has no form for (an enum's member, a tuple), so that
    only JSON mode reads them right.
    """

    def in_json(data: dict[str, Any]) -> Any:
        body = to_json(data, bytes_mode="base64", inf_nan_mode="constants", fallback=unusual)
        return adapter.validate_json(body)

    schema: Any = adapter.core_schema
    kinds = {node["type"] for node in nodes(schema)}
    if any(_is_strict(node) for node in nodes(schema)):
        return in_json
    if "bytes" not in kinds:
        return adapter.validator.validate_python
    try:
        reader = SchemaValidator(rewritten(schema, _reading_text, {}), _use_prebuilt=False)
    except TypeError:  # pydantic < 2.12 takes the validators of nested models as they are
        return in_json
    return reader.validate_python


def _is_strict(node: Node) -> bool:
    strict = node.get("strict") and node["type"] not in _ALIKE
    return bool(strict or node.get("config", {}).get("strict"))


def _reading_text(node: Node, config: Node) -> Node:
    """The schema of bytes that also takes their JSON form, a text."""
    mode = config.get("val_json_bytes", "utf8")
    if node["type"] != "bytes" or mode == "utf8":
        return node
    text: Any = SchemaValidator(core_schema.bytes_schema(), CoreConfig(val_json_bytes=mode))

    def read(value: Any) -> Any:
        return text.validate_strings(value) if isinstance(value, str) else value

    return {
        "type": "function-before",
        "function": {"type": "no-info", "function": read},
        "schema": node,
    }
