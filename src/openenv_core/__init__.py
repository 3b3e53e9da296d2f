"""The old name of `openenv.core`: every `openenv_core.x` is the very module `openenv.core.x`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import openenv.core
from openenv._alias import alias

_OLD, _NEW = "openenv_core", "openenv.core"


class _Old(MetaPathFinder):
    """Finds a module under its old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{_OLD}."):
            return None
        return alias(fullname, _NEW + fullname.removeprefix(_OLD))


warnings.warn(
    f"{_OLD} is the old name of {_NEW}: import that instead", DeprecationWarning, stacklevel=2
)
sys.meta_path.insert(0, _Old())
sys.modules[_OLD] = openenv.core
