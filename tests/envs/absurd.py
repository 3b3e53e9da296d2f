"""Absurd actions: a legal one with a value in it that nobody means."""

import copy
from collections.abc import Iterator
from typing import Any

from tests.envs.case import Json

TEXTS = (
    "x" * 10_000_000,
    "",
    "\0",
    "line\r\n\x1b[2J\x7f",
    "naïve 漢字 🙂 \U0010ffff",
    "\u202eright to left\u2066 \u200b",
    "\ud800",
    "'; import os; #",
)
NUMBERS = (1e308, -1, 2**31, 2**63, 2**70, -(2**70), 0.5, float("nan"), float("-inf"), True)
LISTS: tuple[list[Any], ...] = ([], [0] * 1_000_000, [[[[None]]]], ["x"] * 1000)
MAPPINGS: tuple[Json, ...] = ({}, {str(key): key for key in range(10_000)})
OTHER = (None, {"a": [1]})
KINDS = {
    "string": TEXTS,
    "number": NUMBERS,
    "integer": NUMBERS,
    "array": LISTS,
    "object": MAPPINGS,
}

Place = tuple[Any, ...]


def absurd_actions(schema: Json, legal: Json) -> Iterator[tuple[str, Json]]:
    """Absurd actions, each with what is absurd in it, shortly.

    Args:
        schema: of the action.
        legal: an action.
    """
    for place in {(name,): None for name in schema.get("properties", {})} | _leaves(legal, ()):
        for value in _absurd(schema, legal, place):
            yield f"{'.'.join(map(str, place))}={str(value)[:40]!r}", _with(legal, place, value)


def _leaves(value: Any, place: Place) -> dict[Place, None]:
    """Where the texts and numbers inside of a value are; the first two of a list."""
    parts: Any = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = list(enumerate(value))[:2]
    found = {} if isinstance(value, dict | list) else {place: None}
    for key, part in parts:
        found |= _leaves(part, (*place, key))
    return found


def _absurd(schema: Json, legal: Json, place: Place) -> tuple[Any, ...]:
    declared = schema.get("properties", {}).get(place[0], {}) if len(place) == 1 else {}
    kinds = {each.get("type") for each in (declared, *declared.get("anyOf", ()))}
    kinds.add(_kind(legal, place))
    return tuple(value for kind in KINDS if kind in kinds for value in KINDS[kind]) + OTHER


def _kind(legal: Json, place: Place) -> str | None:
    """The JSON type of what a legal action has in a place."""
    value: Any = legal
    for key in place:
        if isinstance(value, dict) and key not in value:
            return None
        value = value[key]
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value))


def _with(legal: Json, place: Place, value: Any) -> Json:
    action = copy.deepcopy(legal)
    inner: Any = action
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return action
