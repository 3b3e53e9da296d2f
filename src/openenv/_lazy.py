"""Module attributes that are imported when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` that finds each name in its home.

    Args:
        module: the `__name__` of the module that offers the names.
        homes: name → `"package.module"` (same name there) or `"package.module:other_name"`;
            `"package.module:"` gives the module itself.
    """

    def getattr_(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        path, colon, attribute = home.partition(":")
        found = importlib.import_module(path)
        value = found if colon and not attribute else getattr(found, attribute or name)
        vars(importlib.import_module(module))[name] = value
        return value

    return getattr_
