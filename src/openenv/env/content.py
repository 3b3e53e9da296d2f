"""A model's content in wire values: what MessagePack carries, and what a client sends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from openenv.env.ndarray import is_array
from openenv.env.schemas import Node, own_nodes, reachable, schema_of
from openenv.env.validation import is_strict
from openenv.protocol.msgpack import HOLED, holed, merged, plain

_BARE = frozenset(
    {"none", "bool", "int", "float", "str", "bytes", "array", "list", "dict", "literal"}
    | {"model-field", "default", "nullable", "union", "function-before"}
)
"""Kinds of schemas whose values are wire values."""
_OPEN = _BARE | {"any", "tuple", "function-after", "function-wrap", "function-plain"}
"""Kinds of schemas whose values are written alike, whosever they are."""
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
        names: the fields, in their order; `None` if pydantic must write the model as a whole.
        open: those that may hold anything.
        written: those that pydantic must turn into simpler values.
        told: those that its JSON mode must write, because a model may have its own way there.
    """

    names: tuple[str, ...] | None = None
    open: tuple[str, ...] = ()
    written: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()


def content(
    model: BaseModel, exclude: frozenset[str] = frozenset(), *, binary: bool = False
) -> dict[str, Any]:
    """The fields of a model in wire values. Lists and dicts in it may be the model's own.

    Args:
        model: whose fields.
        exclude: those that are left out.
        binary: it will be MessagePack for sure, so that all bytes may stay bytes. Otherwise those
            of a model whose own JSON has no base64 become the text that it has.

    Raises:
        ValueError, TypeError, RecursionError: a field has no wire form.
    """
    layout = _layout(type(model), exclude, binary)
    wire = _held(model, layout.names)
    if wire is None:
        whole: dict[str, Any] = merged(*_both(model, exclude=set(exclude)))
        return whole
    for name in layout.open:
        wire[name] = plain(wire[name])
    if layout.written:
        wire.update(plain(_in_python(model, include=set(layout.written))))
    if layout.told:
        wire.update(merged(*_both(model, include=set(layout.told))))
    return wire


def _held(model: BaseModel, names: tuple[str, ...] | None) -> dict[str, Any] | None:
    """The fields as they are; `None` if others are to be written, or some were never set."""
    if names is None or model.__pydantic_extra__:
        return None
    held = model.__dict__
    try:
        return {name: held[name] for name in names}
    except KeyError:
        return None


def _in_python(model: BaseModel, **which: set[str]) -> Any:
    return model.__pydantic_serializer__.to_python(model, **which)  # type: ignore[arg-type]


def _both(model: BaseModel, **which: set[str]) -> tuple[Any, Any]:
    write: Any = model.__pydantic_serializer__.to_python
    json = write(model, mode="json", fallback=holed, context=HOLED, warnings=False, **which)
    return _in_python(model, **which), json


@lru_cache(maxsize=1024)
def _layout(model: type[BaseModel], exclude: frozenset[str], binary: bool) -> Layout:
    """The layout of a class without some of its fields."""
    own = own_nodes(model)
    if own is None or own[1]["computed_fields"] or _writes_itself(*own):
        return Layout()
    schema = schema_of(model)
    as_text = not binary or is_strict(schema)
    kinds = {
        name: _kinds(list(reachable(field, schema)), model, as_text)
        for name, field in own[1]["fields"].items()
        if name not in exclude
    }
    rest = {name: held for name, held in kinds.items() if not held <= _OPEN}
    told = frozenset(name for name, held in rest.items() if held & _TOLD)
    return Layout(
        names=tuple(kinds),
        open=tuple(name for name, held in kinds.items() if held <= _OPEN and not held <= _BARE),
        written=frozenset(rest) - told,
        told=told,
    )


def _writes_itself(model: Node, fields: Node) -> bool:
    """Whether it is not simply its fields that are written, under their names."""
    return (
        "serialization" in model
        or bool(_WRITING_CONFIG & model.get("config", {}).keys())
        or any(_OWN_WRITING & field.keys() for field in fields["fields"].values())
    )


def _kinds(inner: list[Node], model: type[BaseModel], as_text: bool) -> set[str]:
    """The kinds of the schemas in a field, named by what may come out of them."""
    kinds = {_kind(node) for node in inner}
    configs = [model.model_config, *(node["config"] for node in inner if "config" in node)]
    texts = any(config.get("ser_json_bytes") != "base64" for config in configs)
    return kinds | {"text bytes"} if "bytes" in kinds and texts and as_text else kinds


def _kind(node: Node) -> str:
    kind: str = node["type"]
    if "serialization" in node:
        return "array" if is_array(node) else "serialization"
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
