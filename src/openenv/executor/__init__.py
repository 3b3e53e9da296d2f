"""Runs Python code that nobody has looked at, in a sandboxed interpreter that remembers.

with PythonExecutor() as executor:
    executor.run("x = 6")
    assert executor.run("x * 7").value == "42"
"""

from openenv.executor.executor import PythonExecutor
from openenv.executor.foundry import ExecutorFailed
from openenv.executor.inside import Inside
from openenv.executor.limits import ExecutorLimits
from openenv.executor.result import Artefact, CodeError, CodeResult

__all__ = [
    "Artefact",
    "CodeError",
    "CodeResult",
    "ExecutorFailed",
    "ExecutorLimits",
    "Inside",
    "PythonExecutor",
]
