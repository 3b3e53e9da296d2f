"""Where two values part that should be the same."""

from __future__ import annotations

from typing import Any, NamedTuple

from openenv.protocol.tensors import is_tensor
from openenv.rollout.made_up.fitting import same


class Parting(NamedTuple):
    """The first place where two values differ.

    Attributes:
        path: of the place, its names and numbers joined by dots; empty for the values themselves.
        one: what the one has there; `None` also where it has nothing.
        other: what the other has.
    """

    path: str
    one: Any
    other: Any


def parting(one: Any, other: Any, path: str = "") -> Parting | None:
    """The first place where two values differ: `1` is `1.0`, never `true`, and NaN is NaN.

    Arrays are the same if their types, shapes and bytes are; a list may stand for one, as some
    versions of the wire have it.
    """
    if is_tensor(one) or is_tensor(other):
        return None if _same_arrays(one, other) else Parting(path, one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return _in_dicts(one, other, path)
    if isinstance(one, list) and isinstance(other, list):
        return _in_lists(one, other, path)
    return None if _same_scalars(one, other) else Parting(path, one, other)


def _in_dicts(one: dict[str, Any], other: dict[str, Any], path: str) -> Parting | None:
    for name in [*one, *(other.keys() - one.keys())]:
        inner = f"{path}.{name}".lstrip(".")
        if (name in one) != (name in other):
            return Parting(inner, one.get(name), other.get(name))
        if (found := parting(one[name], other[name], inner)) is not None:
            return found
    return None


def _in_lists(one: list[Any], other: list[Any], path: str) -> Parting | None:
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if (found := parting(left, right, f"{path}.{index}".lstrip("."))) is not None:
            return found
    return None if len(one) == len(other) else Parting(path, one, other)


def _same_arrays(one: Any, other: Any) -> bool:
    if is_tensor(one) and is_tensor(other):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return bool(alike and one.tobytes() == other.tobytes())
    one, other = (each.tolist() if is_tensor(each) else each for each in (one, other))
    return same(one, other)


def _same_scalars(one: Any, other: Any) -> bool:
    """Whether two values are the same that have no parts."""
    return isinstance(one, bytes) == isinstance(other, bytes) and same(one, other)
