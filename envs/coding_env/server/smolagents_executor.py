"""smolagents' interpreter: for code and numbers that depend on it. It is no sandbox."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from openenv import needs
from openenv.executor import CodeError, CodeResult, Inside

RAISED = (Exception, SystemExit, KeyboardInterrupt, GeneratorExit)
"""What interpreted code can raise: smolagents lets all of it through."""


def safe_json_dumps(value: Any) -> str:
    """A value as JSON, or as `repr` writes it where JSON has no such value."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


class SmolagentsExecutor:
    """Interprets a subset of Python in this process, and remembers its variables.

    Its time limit waits for the code to end by itself, and code can read this process's
    variables: run only what you trust.

    Args:
        imports: modules that code may import besides those of smolagents' list.
        max_output: characters of stdout, stderr and the value that are kept.
        tools: functions that the code may call by these names.

    Raises:
        MissingPackage: smolagents is not installed.
    """

    sandbox: Mapping[str, Any] = MappingProxyType({"level": "none"})

    def __init__(
        self,
        imports: Iterable[str] = (),
        max_output: int = 50_000,
        tools: Mapping[str, Callable[..., Any] | Inside] = MappingProxyType({}),
    ) -> None:
        with needs("openenv-coding-env[smolagents]"):
            smolagents: Any = import_module("smolagents")
        self._max_output = max_output
        self._interpreter = smolagents.LocalPythonExecutor(
            additional_authorized_imports=list(imports), max_print_outputs_length=max_output
        )
        own = {"format_exc": traceback.format_exc, "safe_json_dumps": safe_json_dumps}
        here = {n: t.function if isinstance(t, Inside) else t for n, t in tools.items()}
        self._interpreter.send_tools({**own, **here})

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code. The value is the last statement's, of an assignment too.

        Args:
            code: what to run.
            timeout_s: nothing can hold it to that.
        """
        value, error = None, None
        try:
            output = self._interpreter(code).output
            value = None if output is None else safe_json_dumps(output)
        except RAISED as raised:
            error = CodeError(type=type(raised).__name__, message=str(raised))
        printed = str(self._interpreter.state.get("_print_outputs", ""))
        told = f"{error.type}: {error.message}\n" if error else ""
        texts = {"stdout": printed, "stderr": told, "value": value or ""}
        return CodeResult(
            stdout=printed[: self._max_output],
            stderr=told[: self._max_output],
            value=value and value[: self._max_output],
            exit_code=0 if error is None else 1,
            error=error,
            truncated=tuple(name for name, text in texts.items() if len(text) > self._max_output),
        )

    def renew(self, *_: object) -> bool:
        """Never: another one is made as fast."""
        return False

    def close(self) -> None:
        """Lets the variables go."""
        self._interpreter.state.clear()
