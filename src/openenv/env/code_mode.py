"""CodeMode: an agent's code, run apart from the server, with an environment's tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from pydantic_core import from_json

from openenv.env.models import Observation

_RESULT = "globals().get('result')"


class CodeMode:
    """Runs pieces of code that know nothing of each other, in a sandbox.

    The sandbox is that of `openenv.executor`; its process is made with the first piece.
    """

    def __init__(self) -> None:
        self._executor: Any = None
        self._functions: Mapping[str, Callable[..., Any]] = {}

    def run(self, code: str, functions: Mapping[str, Callable[..., Any]]) -> Observation:
        """What came of a piece of code.

        Args:
            code: whole statements.
            functions: what it can call, by name; they run here.

        Returns:
            An observation with reward 0.0. Its metadata has `result`, the value of the variable
            of that name, else of the last expression; or `error`. And `stdout` and `stderr`.
        """
        executor = self._with(functions)
        executor.reset()
        outcome = executor.run(code)
        told: dict[str, Any] = {"stdout": outcome.stdout, "stderr": outcome.stderr}
        if outcome.error is not None:
            return Observation(reward=0.0, metadata={"error": outcome.error.message, **told})
        named = None if outcome.restarted else executor.run(_RESULT).value
        shown = outcome.value if named is None else named
        return Observation(reward=0.0, metadata={"result": _read(shown), **told})

    def close(self) -> None:
        """Ends the sandbox."""
        if self._executor is not None:
            self._executor.close()

    def _with(self, functions: Mapping[str, Callable[..., Any]]) -> Any:
        if self._executor is None or functions.keys() != self._functions.keys():
            self.close()
            # A layer above this one, which only those load who run code.
            self._executor = import_module("openenv.executor").PythonExecutor(tools=functions)
            self._functions = functions
        return self._executor


def _read(shown: str | None) -> Any:
    """A value that is shown as JSON where it has a JSON form, as its `repr` otherwise."""
    if shown is None:
        return None
    try:
        return from_json(shown, allow_inf_nan=False)
    except ValueError:
        return shown
