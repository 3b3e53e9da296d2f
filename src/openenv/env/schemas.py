"""What pydantic's core schemas say of a class: which values it may hold, and how they are written.

A core schema is a tree of dicts. A node has a `type`; its other entries hold nodes, lists of nodes,
dicts of nodes (a model's fields, say), or what is no schema at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel

Node = dict[str, Any]

_NO_SCHEMAS = frozenset({"cls", "config", "default", "expected", "function", "members", "metadata"})


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


def own_nodes(model: type[BaseModel]) -> tuple[Node, Node] | None:
    """The node of a class and the one of its fields; `None` if it has no fields, but a root."""
    for node in nodes(model.__pydantic_core_schema__):
        if node["type"] == "model" and node["cls"] is model and not node["root_model"]:
            return node, next(inner for inner in nodes(node) if inner["type"] == "model-fields")
    return None


def rewritten(schema: Any, change: Callable[[Node, Node], Node], config: Node) -> Any:
    """A copy of a schema in which each node is what `change` makes of it.

    Args:
        schema: a node, or what holds nodes.
        change: takes a node whose parts are rewritten, and the configuration that holds there.
        config: the configuration that holds here.
    """
    if isinstance(schema, list | tuple):
        return type(schema)(rewritten(part, change, config) for part in schema)
    if not isinstance(schema, dict):
        return schema
    if not _is_node(schema):
        return {name: rewritten(part, change, config) for name, part in schema.items()}
    config = schema.get("config", config)
    made = {
        name: part if name in _NO_SCHEMAS else rewritten(part, change, config)
        for name, part in schema.items()
    }
    return change(made, config)


def _is_node(schema: object) -> bool:
    return isinstance(schema, dict) and isinstance(schema.get("type"), str)


def _parts(schema: Any) -> Iterator[Any]:
    if isinstance(schema, list | tuple):
        yield from schema
    elif isinstance(schema, dict):
        skipped = _NO_SCHEMAS if _is_node(schema) else ()
        yield from (part for name, part in schema.items() if name not in skipped)
