"""Whether a value is what its JSON schema says; references lead nowhere but into the schema.

`pattern` is not looked at: a schema may come from a stranger's server, and a pattern can be written
that takes for ever. Keywords that are not known say nothing, as everywhere in JSON Schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any

Json = dict[str, Any]
Schema = Json | bool

DEEPEST = 64
MOST_MISFITS = 20
_LOST = frozenset({"NaN", "Infinity", "-Infinity"})
"""How the wire writes numbers that JSON has no form for."""


def misfits(schema: Schema, value: Any) -> list[str]:
    """What does not fit, each as `place: why`; nothing if the value is as the schema says.

    Args:
        schema: a JSON schema, as `GET /schema` gives it.
        value: what JSON holds.
    """
    try:
        return list(islice(_Fitting(schema).look(schema, value, ""), MOST_MISFITS))
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        return [f"it: its schema is none: {error}"]


def resolve(reference: str, root: Schema) -> Schema | None:
    """What a reference such as `#/$defs/Card` points to; `None` if to nothing in there."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for part in filter(None, reference[1:].split("/")):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if _is_object(found) else None
    return found if isinstance(found, dict | bool) else None


class _Fitting:
    """Looks at values with one schema's definitions at hand."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def look(self, schema: Any, value: Any, place: str, depth: int = 0) -> Iterator[str]:
        """The faults of a value, outer ones first."""
        if depth > DEEPEST:
            yield f"{place or 'it'}: is nested too deeply to be looked at"
        elif schema is False:
            yield f"{place or 'it'}: must not be there"
        elif isinstance(schema, dict):
            look = _Look(self, schema, value, place, depth)
            for rule in filter(None, map(_RULES.get, schema)):
                yield from rule(look)

    def target(self, reference: Any) -> Schema | None:
        """What a reference points to."""
        return resolve(str(reference), self._root)


@dataclass(frozen=True)
class _Look:
    """One value beside one schema."""

    fitting: _Fitting
    schema: Json
    value: Any
    place: str
    depth: int

    def fault(self, why: str) -> Iterator[str]:
        """What is wrong with the value."""
        yield f"{self.place or 'it'}: {why}, got {shown(self.value)}"

    def inner(self, schema: Any, value: Any, part: str = "") -> Iterator[str]:
        """The faults of a part of the value, or of the value by another schema."""
        place = f"{self.place}.{part}" if self.place and part else part or self.place
        yield from self.fitting.look(schema, value, place, self.depth + 1)

    def fits(self, schema: Any) -> bool:
        """Whether the value is as another schema says."""
        return next(self.inner(schema, self.value), None) is None

    def refer(self) -> Iterator[str]:
        """What is wrong by the schema that is referred to."""
        target = self.fitting.target(self.schema["$ref"])
        if target is None:
            yield f"{self.place or 'it'}: its schema refers to {self.schema['$ref']}: not there"
        else:
            yield from self.inner(target, self.value)


def shown(value: Any) -> str:
    """A value for an error text."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


# ── the keywords ──────────────────────────────────────────────────────────────────────────────────

Rule = Callable[[_Look], Iterator[str]]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value) and value == int(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_whole,
    "number": lambda value: _is_number(value) or (isinstance(value, str) and value in _LOST),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": _is_object,
}


def _type(look: _Look) -> Iterator[str]:
    names = look.schema["type"]
    names = names if isinstance(names, list) else [names]
    known = [_TYPES[name] for name in names if name in _TYPES]
    if known and not any(is_one(look.value) for is_one in known):
        yield from look.fault(f"must be of type {' or '.join(names)}")


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: `1` is `1.0`, but never `true`."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124  # NaN is NaN


def _enum(look: _Look) -> Iterator[str]:
    if not any(same(look.value, allowed) for allowed in look.schema["enum"]):
        yield from look.fault(f"must be one of {shown(look.schema['enum'])}")


def _const(look: _Look) -> Iterator[str]:
    if not same(look.value, look.schema["const"]):
        yield from look.fault(f"must be {shown(look.schema['const'])}")


def _any_of(look: _Look) -> Iterator[str]:
    if not any(look.fits(choice) for choice in look.schema["anyOf"]):
        yield from look.fault("fits none of the schemas that it may have")


def _one_of(look: _Look) -> Iterator[str]:
    fitting = sum(look.fits(choice) for choice in look.schema["oneOf"])
    if fitting != 1:
        yield from look.fault(f"must fit one of several schemas, and fits {fitting}")


def _all_of(look: _Look) -> Iterator[str]:
    for part in look.schema["allOf"]:
        yield from look.inner(part, look.value)


def _not(look: _Look) -> Iterator[str]:
    if look.fits(look.schema["not"]):
        yield from look.fault("must not fit a schema that it fits")


def _properties(look: _Look) -> Iterator[str]:
    if _is_object(look.value):
        for name, schema in look.schema["properties"].items():
            if name in look.value:
                yield from look.inner(schema, look.value[name], name)


def _required(look: _Look) -> Iterator[str]:
    if _is_object(look.value):
        for name in look.schema["required"]:
            if name not in look.value:
                yield f"{look.place or 'it'}: has no {name!r}"


def _additional(look: _Look) -> Iterator[str]:
    if not _is_object(look.value) or "patternProperties" in look.schema:
        return
    known = look.schema.get("properties", {})
    for name in look.value.keys() - known.keys():
        if look.schema["additionalProperties"] is False:
            yield f"{look.place or 'it'}: has a field {name!r} that the schema does not know"
        else:
            yield from look.inner(look.schema["additionalProperties"], look.value[name], name)


def _items(look: _Look) -> Iterator[str]:
    if isinstance(look.value, list):
        given = len(look.schema.get("prefixItems", []))
        for index, item in enumerate(look.value[given:], given):
            yield from look.inner(look.schema["items"], item, str(index))


def _prefix_items(look: _Look) -> Iterator[str]:
    if isinstance(look.value, list):
        pairs = zip(look.schema["prefixItems"], look.value, strict=False)
        for index, (schema, item) in enumerate(pairs):
            yield from look.inner(schema, item, str(index))


def _unique(look: _Look) -> Iterator[str]:
    if look.schema["uniqueItems"] is not True or not isinstance(look.value, list):
        return
    if any(same(a, b) for index, a in enumerate(look.value) for b in look.value[:index]):
        yield from look.fault("must not hold anything twice")


def _bound(keyword: str, words: str, holds: Callable[[Any, Any], bool]) -> Rule:
    def rule(look: _Look) -> Iterator[str]:
        limit = look.schema[keyword]
        if _is_number(look.value) and not holds(look.value, limit):
            yield from look.fault(f"must be {words} {limit}")

    return rule


def _size(keyword: str, kind: type[Sized], words: str, holds: Callable[[int, int], bool]) -> Rule:
    def rule(look: _Look) -> Iterator[str]:
        limit = look.schema[keyword]
        if isinstance(look.value, kind) and not holds(len(look.value), limit):
            yield from look.fault(f"must hold {words} {limit}")

    return rule


def _multiple(value: Any, of: Any) -> bool:
    return math.isfinite(value) and of > 0 and abs(value / of - round(value / of)) < 1e-9


_RULES: dict[str, Rule] = {
    "$ref": _Look.refer,
    "type": _type,
    "enum": _enum,
    "const": _const,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "not": _not,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "prefixItems": _prefix_items,
    "uniqueItems": _unique,
    "minimum": _bound("minimum", "at least", lambda value, limit: value >= limit),
    "maximum": _bound("maximum", "at most", lambda value, limit: value <= limit),
    "exclusiveMinimum": _bound("exclusiveMinimum", "more than", lambda value, lim: value > lim),
    "exclusiveMaximum": _bound("exclusiveMaximum", "less than", lambda value, lim: value < lim),
    "multipleOf": _bound("multipleOf", "a multiple of", _multiple),
    "minLength": _size("minLength", str, "at least", lambda size, limit: size >= limit),
    "maxLength": _size("maxLength", str, "at most", lambda size, limit: size <= limit),
    "minItems": _size("minItems", list, "at least", lambda size, limit: size >= limit),
    "maxItems": _size("maxItems", list, "at most", lambda size, limit: size <= limit),
    "minProperties": _size("minProperties", dict, "at least", lambda size, limit: size >= limit),
    "maxProperties": _size("maxProperties", dict, "at most", lambda size, limit: size <= limit),
}
