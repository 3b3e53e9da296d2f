"""Sample values of a JSON schema: the same ones each time, and different from one another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, cycle, islice, repeat
from typing import Any

from openenv.rollout.made_up.fitting import Json, Schema, misfits

DEEPEST = 64
MOST_PARTS = 1_000_000
"""How many values are made up, those inside of others included."""
LONGEST_TEXT = 1_000_000
WORDS = ("hello", "look", "one more", "42", "ünïcödé", "yes")
_FORMATS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "duration": "PT1M",
    "email": "someone@example.org",
    "time": "12:00:00Z",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000001",
}
_BYTES = frozenset({"base64", "base64url", "binary"})


class NoSample(ValueError):
    """No value of a schema can be made up; the text says of which part."""


def samples(schema: Schema, count: int) -> list[Any]:
    """Values that fit a schema.

    Fields that may be left out are, unless their values can be listed: what an author gave a
    default is seldom met by a guess.

    Args:
        schema: a JSON schema.
        count: how many values; they repeat where the schema has no more.

    Raises:
        NoSample: none can be made up.
    """
    sampler = _Sampler(schema)
    try:
        made = [sampler.value(schema, number, "it") for number in range(count)]
    except NoSample:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise NoSample(f"its schema is none: {error}") from error
    fitting = [value for value in made if not misfits(schema, value)]
    if not fitting:
        raise NoSample(f"no value could be made up that fits: {misfits(schema, made[0])[0]}")
    return list(islice(cycle(fitting), count))


class _Sampler:
    """Makes up values with one schema's definitions at hand."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._parts = 0

    def value(self, schema: Any, number: int, place: str, depth: int = 0) -> Any:
        """The value of that number."""
        if depth > DEEPEST:
            raise NoSample(f"{place} refers to itself without an end")
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise NoSample(f"it has more than {MOST_PARTS} parts")
        if not isinstance(schema, dict):
            return {}
        if "$ref" in schema:
            return self.value(self._target(schema), number, place, depth + 1)
        if (listed := _listed(schema)) is not None:
            return listed[number % len(listed)]
        for keyword in ("anyOf", "oneOf", "allOf"):
            if choices := schema.get(keyword):
                chosen = choices[number % len(choices)]
                return self.value(chosen, number // len(choices), place, depth + 1)
        return self._typed(schema, number, place, depth)

    def _target(self, schema: Json) -> Any:
        from openenv.rollout.made_up.schema_validator import resolve

        return resolve(schema["$ref"], self._root)

    def _typed(self, schema: Json, number: int, place: str, depth: int) -> Any:
        names = schema.get("type", "object")
        names = names if isinstance(names, list) else [names]
        name = names[number % len(names)]
        if name == "object":
            return self._object(schema, number, place, depth)
        if name == "array":
            return self._array(schema, number, place, depth)
        made = _SCALARS.get(name)
        if made is None:
            raise NoSample(f"{place} is of type {name!r}")
        return made(schema, number, place)

    def _object(self, schema: Json, number: int, place: str, depth: int) -> Json:
        required = schema.get("required", [])
        value = {}
        for index, (name, inner) in enumerate(schema.get("properties", {}).items()):
            if name in required or (number % 2 and self._is_closed(inner)):
                value[name] = self.value(inner, number + index, name, depth + 1)
        return value

    def _array(self, schema: Json, number: int, place: str, depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        shortest = max(schema.get("minItems", 0), len(first))
        length = min(max(shortest, 1 + number % 2), schema.get("maxItems", DEEPEST + shortest))
        rest = repeat(schema.get("items", {"type": "integer"}), max(length - len(first), 0))
        return [
            self.value(inner, number + index, f"{place}.{index}", depth + 1)
            for index, inner in enumerate(chain(first, rest))
        ]

    def _is_closed(self, schema: Any) -> bool:
        """Whether the values of an optional field can be listed."""
        if isinstance(schema, dict) and "$ref" in schema:
            schema = self._target(schema)
        if not isinstance(schema, dict):
            return False
        bounded = schema.get("type") == "integer" and {"minimum", "maximum"} <= schema.keys()
        return (
            bounded or schema.get("type") == "boolean" or bool({"enum", "examples"} & set(schema))
        )


def _listed(schema: Json) -> list[Any] | None:
    """The values that a schema names."""
    if "const" in schema:
        return [schema["const"]]
    return schema.get("enum") or schema.get("examples")


def _string(schema: Json, number: int, place: str) -> str:
    if "pattern" in schema:
        raise NoSample(f"{place} must match the pattern {schema['pattern']!r}; give it `examples`")
    kind = schema.get("format")
    if kind in _FORMATS:
        return _FORMATS[kind]
    text = "aGVsbG8=" if kind in _BYTES else WORDS[number % len(WORDS)]
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 1000)
    if shortest > LONGEST_TEXT:
        raise NoSample(f"{place} must have {shortest} characters")
    return text.ljust(shortest, "x")[:longest]


def _whole(schema: Json, number: int, _place: str) -> int:
    low, high = _bounds(schema, 1)
    choices = [int(low), int(high), (int(low) + int(high)) // 2]
    return choices[number % 3] if high - low > 8 else int(low) + number % int(high - low + 1)


def _real(schema: Json, number: int, _place: str) -> float:
    low, high = _bounds(schema, 0.5)
    return float(low + (high - low) * ((number % 5) / 4))


def _bounds(schema: Json, margin: float) -> tuple[float, float]:
    """The least and the largest value; of the one that is missing, one near the other."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None and "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + margin
    if high is None and "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - margin
    if low is None:
        low = 0 if high is None or high >= 0 else high - 3
    return low, max(low, low + 3 if high is None else high)


_SCALARS: dict[str, Callable[[Json, int, str], Any]] = {
    "string": _string,
    "integer": _whole,
    "number": _real,
    "boolean": lambda _schema, number, _place: bool(number % 2),
    "null": lambda _schema, _number, _place: None,
}
