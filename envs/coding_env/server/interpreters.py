"""What runs the code of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from coding_env.options import CodingOptions
from coding_env.server.smolagents_executor import SmolagentsExecutor
from coding_env.server.workshop import NO_TOOLS, Tools, executor
from openenv.executor import CodeResult, ExecutorLimits

SEEDING_S = 60.0
"""How long it may take: a process begins with it, on a machine that may be busy."""


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
    """Python in a sandbox, whose global random generators are seeded.

    Args:
        options: its limits.
        seed: of Python's generator, and of numpy's if numpy is preloaded.
        tools: functions that the code may call by these names.

    Raises:
        ConfigurationError: a strict sandbox is wanted, and this machine has none.
        ExecutorFailed: no process can be made.
    """

    def __init__(self, options: CodingOptions, seed: int, tools: Tools) -> None:
        self._seeding = _seeding(options, seed)
        self._configuration = _configuration(options)
        self._executor = executor(tools, **self._configuration)
        try:
            self._seed()
        except BaseException:
            self.close()
            raise

    @property
    def sandbox(self) -> Mapping[str, Any]:
        """What confines the code."""
        return self._executor.sandbox

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code; an interpreter that does not survive it is replaced at once."""
        result = self._executor.run(code, timeout_s=timeout_s)
        if result.restarted:
            self._seed()
        return result

    def renew(self, options: CodingOptions, seed: int) -> bool:
        """A fresh process, which takes less time than another interpreter."""
        if options.executor == "smolagents" or _configuration(options) != self._configuration:
            return False
        self._seeding = _seeding(options, seed)
        self._executor.reset()
        self._seed()
        return True

    def close(self) -> None:
        """Ends it."""
        self._executor.close()

    def _seed(self) -> None:
        self._executor.run(self._seeding, timeout_s=SEEDING_S)


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


def _seeding(options: CodingOptions, seed: int) -> str:
    """Code that seeds the generators which the episode's code can reach."""

    def is_allowed(module: str) -> bool:
        return options.imports is None or module in options.imports

    lines = ["import random", f"random.seed({seed})", "del random"] * is_allowed("random")
    if "numpy" in options.preload and is_allowed("numpy"):
        lines += ["import numpy", f"numpy.random.seed({seed % 2**32})", "del numpy"]
    return "\n".join(lines)
