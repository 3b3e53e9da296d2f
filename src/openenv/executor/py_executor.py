"""PyExecutor: the executor that packages of environments know."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue

from openenv.env.shapes import CodeExecResult
from openenv.executor.executor import PythonExecutor

IMPORTS = (
    *("collections", "datetime", "itertools", "math", "queue", "random", "re", "stat"),
    *("statistics", "time", "unicodedata"),
)
"""What code may import unless told otherwise."""
EVERYTHING = "*"
SETUP = """
import json as _json
from traceback import format_exc

def safe_json_dumps(obj):
    try:
        return _json.dumps(obj)
    except Exception:
        return repr(obj)
"""

_abandoned: SimpleQueue[PythonExecutor] = SimpleQueue()


class PyExecutor:
    """Runs Python code in a sandbox; variables last as long as this object does.

    Code finds `format_exc()` and `safe_json_dumps(obj)`.

    Args:
        additional_imports: modules that code may import besides a few of the standard library;
            `"*"` among them allows all.
    """

    def __init__(self, additional_imports: Iterable[str] | None = None) -> None:
        _close_abandoned()
        wanted = {each.partition(".")[0] for each in additional_imports or ()}
        imports = None if EVERYTHING in wanted else {*IMPORTS, *wanted}
        self._executor = PythonExecutor(imports=imports, setup=SETUP)
        self._end = weakref.finalize(self, _abandoned.put, self._executor)
        self._end.atexit = False

    def run(self, code: str) -> CodeExecResult:
        """Runs code; `stdout` is what it printed, and below it the last expression's value."""
        result = self._executor.run(code)
        return CodeExecResult(
            stdout=result.output, stderr=result.stderr, exit_code=result.exit_code
        )

    def close(self) -> None:
        """Ends the interpreter. One that is only let go of ends when another one is made."""
        self._end.detach()
        self._executor.close()


def _close_abandoned() -> None:
    with suppress(Empty):
        while True:
            _abandoned.get_nowait().close()
