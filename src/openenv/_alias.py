"""Modules that are imported under a second name, and are the very same modules."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType


def alias(name: str, own: str) -> ModuleSpec | None:
    """What a finder answers so that importing one name gives the module of another.

    Args:
        name: what is imported.
        own: the name of the module that it is.

    Returns:
        `None` if there is no such module.
    """
    found = find_spec(own)
    return None if found is None else ModuleSpec(name, _Alias(found), origin=found.origin)


class _Alias(Loader):
    """Loads a module by importing it under its own name, which it keeps."""

    def __init__(self, own: ModuleSpec) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> None:
        """Imports it before anything has the second name: other threads wait for it till then."""
        importlib.import_module(self._own.name)

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module in the place of the one that was made to be filled."""
        sys.modules[module.__name__] = sys.modules[self._own.name]

    def get_code(self, name: str) -> CodeType | None:
        """What `python -m name` runs."""
        code = getattr(self._own.loader, "get_code", None)
        found: CodeType | None = code and code(self._own.name)
        return found
