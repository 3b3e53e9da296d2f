"""Whether a value is what its JSON schema says; references lead nowhere but into the schema.

`pattern` is not looked at: a schema may come from a stranger's server, and a pattern can be written
that takes for ever. Keywords that are not known say nothing, as everywhere in JSON Schema.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

Json = dict[str, Any]
Schema = Json | bool

MOST_MISFITS = 20


def misfits(schema: Schema, value: Any) -> list[str]:
    """What does not fit, each as `place: why`; nothing if the value is as the schema says.

    Args:
        schema: a JSON schema, as `GET /schema` gives it.
        value: what JSON holds.
    """
    from openenv.rollout.made_up.schema_validator import faults

    return list(islice(faults(schema, value), MOST_MISFITS))


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: `1` is `1.0`, but never `true`."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124  # NaN is NaN


def shown(value: Any) -> str:
    """A value for an error text."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
