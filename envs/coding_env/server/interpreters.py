"""What runs the code of an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from coding_env.options import CodingOptions
from coding_env.server.smolagents_executor import SmolagentsExecutor
from openenv.executor import CodeResult, ExecutorLimits, PythonExecutor

Tools = Mapping[str, Callable[..., Any]]
NO_TOOLS: Tools = MappingProxyType({})

_SEEDING = """\
import random as _random, sys as _sys
_random.seed({seed})
if "numpy" in _sys.modules:
    _sys.modules["numpy"].random.seed({seed} % 2**32)
del _random, _sys
"""


class Interpreter(Protocol):
    """Runs pieces of code one after the other, and remembers what they define."""

    @property
    def sandbox(self) -> Mapping[str, Any]:
        """What confines the code; `level` is "full", "partial" or "none"."""

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code; whatever it does is told in the result."""

    def close(self) -> None:
        """Ends it; twice is as good as once."""


def interpreter(options: CodingOptions, seed: int, tools: Tools = NO_TOOLS) -> Interpreter:
    """A fresh interpreter.

    Args:
        options: which one, and its limits.
        seed: of Python's and numpy's global generators in the sandbox.
        tools: functions that the code may call by these names.

    Raises:
        MissingPackage: smolagents is wanted, and not installed.
        ConfigurationError: a strict sandbox is wanted, and this machine has none.
    """
    if options.executor == "smolagents":
        return SmolagentsExecutor(options.imports or (), options.max_output, tools)
    return PythonExecutor(
        limits=limits(options),
        imports=options.imports,
        preload=options.preload,
        tools=tools,
        setup=_SEEDING.format(seed=seed),
        isolation=options.isolation,
    )


def limits(options: CodingOptions) -> ExecutorLimits:
    """What an interpreter may use."""
    return ExecutorLimits(
        timeout_s=options.timeout_s,
        memory_bytes=options.memory_mb << 20,
        output_bytes=options.max_output,
    )
