"""What runs the code of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from coding_env.options import CodingOptions
from coding_env.server.smolagents_executor import SmolagentsExecutor
from coding_env.server.workshop import NO_TOOLS, Tools, executor
from openenv.executor import CodeResult, ExecutorLimits


class Interpreter(Protocol):
    """Runs pieces of code one after the other, and remembers what they define."""

    @property
    def sandbox(self) -> Mapping[str, Any]:
        """What confines the code; `level` is "full", "partial" or "none"."""

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code; whatever it does is told in the result."""

    def renew(self, options: CodingOptions, seed: int) -> bool:
        """Forgets everything, if it is of the kind that the options want; whether it is."""

    def close(self) -> None:
        """Ends it; twice is as good as once."""


class SandboxedInterpreter:
    """Python in a sandbox.

    Args:
        options: its limits.
        seed: of Python's global random generator, and of numpy's if numpy is preloaded.
        tools: functions that the code may call by these names.

    Raises:
        ConfigurationError: a strict sandbox is wanted, and this machine has none.
        ExecutorFailed: no process can be made.
    """

    def __init__(self, options: CodingOptions, seed: int, tools: Tools) -> None:
        self._configuration = _configuration(options)
        self._executor = executor(tools, **self._configuration)
        try:
            self._executor.reset(seed=seed)
        except BaseException:
            self.close()
            raise

    @property
    def sandbox(self) -> Mapping[str, Any]:
        """What confines the code."""
        return self._executor.sandbox

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code."""
        return self._executor.run(code, timeout_s=timeout_s)

    def renew(self, options: CodingOptions, seed: int) -> bool:
        """A fresh process, which takes less time than another interpreter."""
        if options.executor == "smolagents" or _configuration(options) != self._configuration:
            return False
        self._executor.reset(seed=seed)
        return True

    def close(self) -> None:
        """Ends it."""
        self._executor.close()


def interpreter(options: CodingOptions, seed: int, tools: Tools = NO_TOOLS) -> Interpreter:
    """A fresh interpreter, as `options.executor` names it.

    Raises:
        MissingPackage: smolagents is wanted, and not installed.
        ConfigurationError: a strict sandbox is wanted, and this machine has none.
        ExecutorFailed: no process can be made.
    """
    if options.executor == "smolagents":
        return SmolagentsExecutor(options.imports or (), options.max_output, tools)
    return SandboxedInterpreter(options, seed, tools)


def limits(options: CodingOptions) -> ExecutorLimits:
    """What an interpreter may use, but for its time, which each run is told."""
    return ExecutorLimits(memory_bytes=options.memory_mb << 20, output_bytes=options.max_output)


def _configuration(options: CodingOptions) -> dict[str, Any]:
    """What makes one executor another than the next."""
    return {
        "limits": limits(options),
        "imports": options.imports,
        "preload": options.preload,
        "isolation": options.isolation,
    }
