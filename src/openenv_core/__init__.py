"""The old name of `openenv.core`: every `openenv_core.x` is the very module `openenv.core.x`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType

import openenv.core

_OLD, _NEW = "openenv_core", "openenv.core"


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module under its old name by importing it under its own."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(f"{_OLD}."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_NEW + spec.name[len(_OLD) :])
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Gives the module back its own spec, which the import system has just replaced."""
        module.__spec__ = self._own


warnings.warn(
    f"{_OLD} is the old name of {_NEW}: import that instead", DeprecationWarning, stacklevel=2
)
sys.meta_path.insert(0, _Alias())
sys.modules[_OLD] = openenv.core
