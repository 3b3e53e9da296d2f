"""A model's content in wire values: what MessagePack carries, and what a client sends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from openenv.env.ndarray import as_lists
from openenv.env.schemas import Node, own_nodes, reachable
from openenv.protocol.msgpack import HOLED, holed, merged, plain

_BARE = frozenset(
    {"none", "bool", "int", "float", "str", "bytes", "array", "list", "dict", "literal"}
    | {"model-field", "default", "nullable", "union", "function-before"}
)
"""Kinds of schemas whose values are wire values."""
_OPEN = _BARE | {"any", "tuple"}
"""Kinds of schemas whose values pydantic writes alike, whoever asks it."""
_TOLD = frozenset({"any", "serialization", "text bytes"})
"""Kinds of schemas whose values only a model's own JSON mode writes right."""
_OWN_WRITING = frozenset(
    {"serialization", "serialization_alias", "serialization_exclude", "serialization_exclude_if"}
)
_WRITING_CONFIG = frozenset({"ser_json_timedelta", "ser_json_temporal"})
_INSIDE = {"list": "items_schema", "dict": "values_schema"}
"""Where it is said what a container holds; otherwise that is anything."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read the content of a class's instances.

    Attributes:
        names: the fields, in their order; none if pydantic must write the model as a whole.
        open: those that may hold anything.
        written: those that pydantic must write.
        told: its JSON mode must be asked for them.
    """

    names: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    told: bool = True


def content(
    model: BaseModel, exclude: frozenset[str] = frozenset(), *, binary: bool = False
) -> dict[str, Any]:
    """The fields of a model in wire values. Lists and dicts in it may be the model's own.

    Args:
        model: whose fields.
        exclude: those that are left out.
        binary: it will be MessagePack for sure, so that all bytes stay bytes. Otherwise those of a
            model whose own JSON has no base64 become the text that it has.

    Raises:
        ValueError, TypeError, RecursionError: a field has no wire form.
    """
    layout = _layout(type(model), exclude, binary)
    held = model.__dict__
    wire: dict[str, Any]
    if not layout.names or model.__pydantic_extra__ or len(held) < len(layout.names):
        wire = _written(model, told=True, exclude=set(exclude))
        return wire
    wire = {name: held[name] for name in layout.names}
    for name in layout.open:
        wire[name] = plain(wire[name])
    if layout.written:
        wire.update(_written(model, told=layout.told, include=set(layout.written)))
    return wire


def _written(model: BaseModel, *, told: bool, **which: Any) -> Any:
    write = model.__pydantic_serializer__.to_python
    python = write(model, **which)
    if not told:
        return plain(python)
    json = write(model, mode="json", fallback=holed, context=HOLED, warnings=False, **which)
    return merged(python, json)


@lru_cache(maxsize=1024)
def _layout(model: type[BaseModel], exclude: frozenset[str], binary: bool) -> Layout:
    """The layout of a class without some of its fields."""
    own = own_nodes(model)
    if own is None or own[1]["computed_fields"] or _writes_itself(*own):
        return Layout()
    kinds = {
        name: _kinds(field, model, binary)
        for name, field in own[1]["fields"].items()
        if name not in exclude
    }
    written = frozenset(name for name, held in kinds.items() if not held <= _OPEN)
    return Layout(
        names=tuple(kinds),
        open=tuple(name for name, held in kinds.items() if held <= _OPEN and not held <= _BARE),
        written=written,
        told=any(kinds[name] & _TOLD for name in written),
    )


def _writes_itself(model: Node, fields: Node) -> bool:
    """Whether it is not simply its fields that are written, under their names."""
    return (
        "serialization" in model
        or bool(_WRITING_CONFIG & model.get("config", {}).keys())
        or any(_OWN_WRITING & field.keys() for field in fields["fields"].values())
    )


def _kinds(field: Node, model: type[BaseModel], binary: bool) -> set[str]:
    """The kinds of the schemas in a field, named by what may come out of them."""
    inner = list(reachable(field, model.__pydantic_core_schema__))
    kinds = {_kind(node) for node in inner}
    configs = [model.model_config, *(node["config"] for node in inner if "config" in node)]
    texts = any(config.get("ser_json_bytes") != "base64" for config in configs)
    return kinds | {"text bytes"} if "bytes" in kinds and texts and not binary else kinds


def _kind(node: Node) -> str:
    kind: str = node["type"]
    if "serialization" in node:
        return "array" if node["serialization"].get("function") is as_lists else "serialization"
    if kind == "dict" and node.get("keys_schema", {}).get("type") != "str":
        return "odd keys"
    if kind == "literal" and not _plain(node["expected"]):
        return "odd literals"
    if _INSIDE.get(kind, "type") not in node or _takes_extras(node):
        return "any"
    return kind


def _takes_extras(node: Node) -> bool:
    config = node.get("config", {})
    return "allow" in (node.get("extra_behavior"), config.get("extra_fields_behavior"))


def _plain(values: Iterable[object]) -> bool:
    return all(type(value) in (str, int, bool, bytes, type(None)) for value in values)
