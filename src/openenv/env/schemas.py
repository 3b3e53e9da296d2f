"""What pydantic's core schemas say of a class: which values it may hold, and how they are written.

A core schema is a tree of dicts. A node has a `type`; its other entries hold nodes, lists of nodes,
dicts of nodes (a model's fields, say), or what is no schema at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, TypeAdapter

Node = dict[str, Any]

_NO_SCHEMAS = frozenset(
    {"cls", "config", "default", "expected", "function", "members", "metadata", "serialization"}
)
"""Entries that are no part of the tree. How a value is written is none: it is of that node."""


def nodes(schema: Any) -> Iterator[Node]:
    """Every node of a schema, outer ones first."""
    if _is_node(schema):
        yield schema
    for part in _parts(schema):
        yield from nodes(part)


def reachable(part: Any, whole: Any) -> Iterator[Node]:
    """Every node of a part of a schema, and of what it refers to in the whole."""
    definitions = {node["ref"]: node for node in nodes(whole) if "ref" in node}
    pending, seen = [part], set()
    while pending:
        for node in nodes(pending.pop()):
            yield node
            reference = node.get("schema_ref")
            if reference is not None and reference not in seen:
                seen.add(reference)
                pending.append(definitions[reference])


def schema_of(model: type[BaseModel]) -> Any:
    """The schema of a class, completed if that had been put off."""
    return TypeAdapter(model).core_schema


def own_nodes(model: type[BaseModel]) -> tuple[Node, Node] | None:
    """The node of a class and the one of its fields; `None` if it has no fields, but a root."""
    for node in nodes(schema_of(model)):
        if node["type"] == "model" and node["cls"] is model and not node["root_model"]:
            return node, next(inner for inner in nodes(node) if inner["type"] == "model-fields")
    return None


def _is_node(schema: object) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("type"), str)


def _parts(schema: Any) -> Iterator[Any]:
    if isinstance(schema, list | tuple):
        yield from schema
    elif isinstance(schema, dict):
        skipped = _NO_SCHEMAS if _is_node(schema) else ()
        yield from (part for name, part in schema.items() if name not in skipped)
