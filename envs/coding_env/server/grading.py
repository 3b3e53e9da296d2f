"""The share of hidden tests that a submission passes.

The tests run in an interpreter of their own, the submission in another one, new as well. All that
passes between them are the text of a call and the text of its value, which is read as a plain
value: a submission can answer a test wrongly, and can do nothing to it.
"""

from __future__ import annotations

import json
import time
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from coding_env.hidden_tests import HiddenTests
from coding_env.options import CodingOptions
from coding_env.server.interpreters import Interpreter, interpreter, limits
from coding_env.server.workshop import Tools, executor
from openenv.executor import PythonExecutor

MAX_CALLS = 100_000
LEAST_OUTPUT = 50_000
"""Bytes."""

_BRIDGE = '''
import ast as _ast, builtins as _builtins

def submission(expression):
    """The value of an expression in the submission, or what it raises there."""
    told = _ask(expression)
    if "value" in told:
        return _ast.literal_eval(told["value"])
    kind = getattr(_builtins, told["error"], None)
    # StopIteration would end a test's `all(map(f, ...))` early, and well.
    known = isinstance(kind, type) and issubclass(kind, Exception) and kind is not StopIteration
    raise (kind if known else RuntimeError)(told["message"])

def _borrowed(name):
    if not submission(f"callable({name})"):
        return submission(name)
    return lambda *given, **named: submission(f"{name}(*{given!r}, **{named!r})")

for _name in _WANTED:
    try:
        globals()[_name] = _borrowed(_name)
    except Exception:
        pass
'''


@dataclass(frozen=True)
class Grade:
    """How good a submission is.

    Attributes:
        passed: how many tests it passes.
        is_cut: whether the time was over before all of them were.
    """

    passed: int
    is_cut: bool = False


class Grader:
    """Grades the submissions of an episode.

    Args:
        tests: the hidden tests, as `HiddenTests` reads them.
        options: the episode's options: a submission runs as its code does.
        seed: of the random numbers that submissions and tests draw.
        tools: functions that a submission may call by these names.
    """

    def __init__(self, tests: str, options: CodingOptions, seed: int, tools: Tools) -> None:
        self._tests = HiddenTests(tests)
        most = max(options.max_output, LEAST_OUTPUT)  # of values, which tests are to see whole
        self._options = options.model_copy(update={"max_output": most})
        self._seed = seed
        self._tools = tools

    @property
    def total(self) -> int:
        """How many tests there are, at least 1."""
        return self._tests.total

    def grade(self, code: str, seconds: float) -> Grade:
        """Tries the tests on a submission.

        Args:
            code: the submission, which is run anew.
            seconds: for all of it; tests that are not over by then are failed.
        """
        until = time.monotonic() + seconds
        with closing(interpreter(self._options, self._seed, self._tools)) as submission:
            if submission.run(code, timeout_s=seconds).timed_out:
                return Grade(0, is_cut=True)
            tools = {"_ask": lambda expression: _answer(submission, expression, until)}
            limited = replace(limits(self._options), tool_calls=MAX_CALLS)
            with executor(tools, limits=limited) as testing:
                testing.reset(seed=self._seed)
                passed = self._count(testing, until)
        return Grade(passed, is_cut=passed < self.total and time.monotonic() >= until)

    def _count(self, testing: PythonExecutor, until: float) -> int:
        passed = 0
        bridge = f"_WANTED = {self._tests.wanted!r}\n{_BRIDGE}"
        for code, counts in [(bridge, False), *((p.code, p.counts) for p in self._tests.parts)]:
            left = until - time.monotonic()
            if left <= 0:
                break
            result = testing.run(code, timeout_s=left)
            if result.restarted:  # what the tests rely on is gone
                break
            passed += counts and result.exit_code == 0
        return passed


def _answer(submission: Interpreter, expression: str, until: float) -> dict[str, Any]:
    """What an expression is worth in the submission: the text of a value, or an error."""
    left = until - time.monotonic()
    if left <= 0:
        return {"error": "TimeoutError", "message": "the time for grading is over"}
    result = submission.run(f"repr({expression})", timeout_s=left)
    if result.error is not None:
        return {"error": result.error.type, "message": result.error.message}
    if result.value is None or "value" in result.truncated:
        return {"error": "RuntimeError", "message": "no value came back"}
    return {"value": str(json.loads(result.value))}
