"""Codecs derived from JSON schemas, for environments that were never Gymnasium's.

What says its bounds becomes a space. What does not, as a text or a list of any length, has none.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
from gymnasium import spaces

from openenv.gym.codecs import BoxCodec, Codec, DiscreteCodec, TextCodec, extremes
from openenv.gym.composites import TupleCodec
from openenv.gym.fields import FieldsCodec
from openenv.protocol.errors import Json

Derive = Callable[[Json], "Codec | None"]


def derived(schema: Json, definitions: Json) -> Codec | None:
    """The codec of a field by its JSON schema; `None` if no space can be told from it.

    Args:
        schema: the field's.
        definitions: what its references name.
    """
    schema = _resolved(schema, definitions)
    inner = partial(derived, definitions=definitions)
    for rule in (_tensor, _choice, _number, _array, _text, _tuple, _record):
        codec = rule(schema, inner)
        if codec is not None:
            return codec
    return None


def _resolved(schema: Json, definitions: Json) -> Json:
    while "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**definitions[schema["$ref"].rpartition("/")[2]], **beside}
    return {
        **schema,
        **{
            key: [_resolved(part, definitions) for part in schema[key]]
            for key in ("anyOf", "oneOf")
            if key in schema
        },
    }


class ChoiceCodec(Codec):
    """One of some values, by its place among them."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = list(values)
        self.space = spaces.Discrete(len(self._values))

    def read(self, data: Any) -> int:
        """Its place; a typed client's choices may be members of an enum."""
        return self._values.index(data.value if isinstance(data, Enum) else data)

    def write(self, value: Any) -> Any:
        """The value in that place."""
        if not self.space.contains(value):
            raise ValueError(f"{value!r} is not in {self.space}")
        return self._values[int(value)]


class NumberCodec(Codec):
    """A number, as an array of shape `(1,)`, which is what networks take."""

    def __init__(self, low: Any, high: Any, dtype: type[Any]) -> None:
        self.space = spaces.Box(low, high, (1,), dtype)

    def read(self, data: Any) -> Any:
        """An array of one number."""
        return np.array([data], dtype=self.space.dtype)

    def write(self, value: Any) -> Any:
        """The number in an array of one."""
        return np.asarray(value, dtype=self.space.dtype).item()


class ListCodec(BoxCodec):
    """An array that crosses the wire as nested lists."""

    def write(self, value: Any) -> Any:
        """Nested lists."""
        return super().write(value).tolist()


class PartsCodec(TupleCodec):
    """A tuple whose parts are derived."""

    def __init__(self, parts: Sequence[Codec]) -> None:
        self.space = spaces.Tuple([part.space for part in parts])
        self._parts = list(parts)


# ── rules: the codec of a schema, or None if it is another rule's ─────────────────────────────────


def _choice(schema: Json, inner: Derive) -> Codec | None:
    values = [False, True] if schema.get("type") == "boolean" else _values(schema)
    return ChoiceCodec(values) if values else None


def _values(schema: Json) -> list[Any] | None:
    """All that a value can be, if it is so few that the schema lists them."""
    if "enum" in schema:
        return list(schema["enum"])
    if "const" in schema:
        return [schema["const"]]
    if schema.get("type") == "null":
        return [None]
    parts: list[Json] = schema.get("anyOf") or schema.get("oneOf") or []
    few = [_values(part) for part in parts]
    known = [values for values in few if values is not None]
    return sum(known, []) if known and len(known) == len(few) else None


def _number(schema: Json, inner: Derive) -> Codec | None:
    dtype = _NUMBERS.get(str(schema.get("type")))
    if dtype is None:
        return None
    low, high = _bounds(schema)
    if dtype is np.int64 and high - low < np.iinfo(np.int64).max:
        return DiscreteCodec(spaces.Discrete(int(high - low) + 1, start=int(low)), "")
    return NumberCodec(low, high, dtype)


_NUMBERS: dict[str, type[Any]] = {"integer": np.int64, "number": np.float64}


def _bounds(schema: Json) -> tuple[Any, Any]:
    """The least and the greatest number, where a whole number next to an open bound is meant."""
    open_by = 1 if schema.get("type") == "integer" else 0
    low: Any = schema.get("minimum", schema.get("exclusiveMinimum", -np.inf))
    high: Any = schema.get("maximum", schema.get("exclusiveMaximum", np.inf))
    low += open_by * ("exclusiveMinimum" in schema and "minimum" not in schema)
    high -= open_by * ("exclusiveMaximum" in schema and "maximum" not in schema)
    return low, high


def _array(schema: Json, inner: Derive) -> Codec | None:
    shape: list[int] = []
    while (size := _length(schema)) is not None and "items" in schema:
        shape.append(size)
        schema = schema["items"]
    dtype = _NUMBERS.get(str(schema.get("type")))
    if not shape or dtype is None:
        return None
    return ListCodec(spaces.Box(*_bounds(schema), tuple(shape), dtype), "")


def _length(schema: Json) -> int | None:
    size = schema.get("minItems")
    return size if size == schema.get("maxItems") else None


def _tensor(schema: Json, inner: Derive) -> Codec | None:
    """An `NDArray` of a known shape; its dtype bounds it."""
    dtype, shape = np.dtype(schema.get("dtype", "O")), schema.get("shape")
    if shape is None or None in shape or dtype.kind not in "biuf":
        return None
    box = spaces.Box(*extremes(dtype), tuple(shape), dtype.type)
    return BoxCodec(box, "")


def _text(schema: Json, inner: Derive) -> Codec | None:
    if schema.get("type") != "string" or "maxLength" not in schema:
        return None
    least = schema.get("minLength", 0)
    return TextCodec(
        spaces.Text(schema["maxLength"], min_length=least, charset=string.printable), ""
    )


def _tuple(schema: Json, inner: Derive) -> Codec | None:
    items = schema.get("prefixItems")
    if items is None and "items" in schema:
        items = [schema["items"]] * (_length(schema) or 0)
    parts = [inner(item) for item in items or ()]
    known = [part for part in parts if part is not None]
    return PartsCodec(known) if known and len(known) == len(parts) else None


def _record(schema: Json, inner: Derive) -> Codec | None:
    parts = {name: inner(field) for name, field in schema.get("properties", {}).items()}
    known = {name: part for name, part in parts.items() if part is not None}
    if not known or len(known) < len(parts):
        return None
    return FieldsCodec(known, spaces.Dict([(name, part.space) for name, part in known.items()]))
