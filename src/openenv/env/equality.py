"""Whether two models are equal, of which some parts may be arrays."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from openenv.protocol.tensors import is_tensor


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; arrays are if their shapes are and all their elements."""
    if is_tensor(one) or is_tensor(other):
        return one is other or (type(one) is type(other) and _same_elements(one, other))
    if one is other or type(one) is not type(other):
        return one is other or bool(one == other)
    if isinstance(one, BaseModel):
        return same(held(one), held(other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def held(model: Any) -> list[Any]:
    """What makes a model the one it is: its fields, extra and private ones included."""
    fields = {name: model.__dict__.get(name) for name in type(model).model_fields}
    return [fields, model.__pydantic_extra__, model.__pydantic_private__]


def _same_elements(one: Any, other: Any) -> bool:
    import numpy

    return numpy.array_equal(one, other)
