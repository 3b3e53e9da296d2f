"""What a class says in its `Base[A, B, C]` line."""

from __future__ import annotations

import typing
from typing import Any, TypeVar


def type_arguments(cls: type, base: type) -> tuple[Any, ...]:
    """The arguments that a subclass gives to a generic base, through any number of levels.

    Returns:
        one entry per parameter of `base`; a parameter that nobody filled stays a `TypeVar`.
        Empty if `cls` is not a subclass of `base`.
    """
    if cls is base:
        return tuple(getattr(base, "__parameters__", ()))
    for parent in cls.__dict__.get("__orig_bases__", cls.__bases__):
        origin = typing.get_origin(parent) or parent
        if not (isinstance(origin, type) and issubclass(origin, base)):
            continue
        inherited = type_arguments(origin, base)
        given = dict(
            zip(getattr(origin, "__parameters__", ()), typing.get_args(parent), strict=False)
        )
        return tuple(given.get(a, a) if isinstance(a, TypeVar) else a for a in inherited)
    return ()


def filled(argument: Any) -> Any | None:
    """A type argument, or `None` where it is still a `TypeVar` or `Any`."""
    return None if isinstance(argument, TypeVar) or argument is Any else argument
