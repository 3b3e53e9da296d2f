"""Tools that live in the interpreter: the code calls them as Python calls any function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openenv.protocol.errors import ConfigurationError


@dataclass(frozen=True)
class Inside:
    """A function that each interpreter imports from its module, and that runs there.

    Nothing is encoded on the way: arguments and results are the objects themselves. In exchange
    it has what the code has, no network, no files but the system's, and the code can look into
    it, replace it, and read the files of its package. So it holds no secret, and what it returns
    proves nothing.

    Args:
        function: defined at the top level of a module that can be imported.

    Raises:
        ConfigurationError: it is not.
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        module, name = self._place()
        if (
            module == "__main__"
            or getattr(sys.modules.get(module), name, None) is not self.function
        ):
            raise ConfigurationError(
                f"Inside needs a function at the top level of a module that an interpreter can "
                f"import, got {self.function!r} of {module or 'no module'}"
            )

    @property
    def module(self) -> str:
        """Where it is defined."""
        return self._place()[0]

    def imported_as(self, name: str) -> str:
        """The statement that gives it a name."""
        return f"from {self.module} import {self._place()[1]} as {name}\n"

    def _place(self) -> tuple[str, str]:
        return getattr(self.function, "__module__", ""), getattr(self.function, "__name__", "")


def insiders(tools: Mapping[str, Any]) -> dict[str, Inside]:
    """Those of the tools that live in the interpreter.

    Raises:
        ConfigurationError: code cannot call one by its name.
    """
    found = {name: tool for name, tool in tools.items() if isinstance(tool, Inside)}
    for name in found:
        if not name.isidentifier():
            raise ConfigurationError(f"tools need names that code can call, got {name!r}")
    return found
