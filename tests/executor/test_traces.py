"""Tracebacks: they look as Python's do, and fit."""

import pytest

from openenv.executor import ExecutorLimits, PythonExecutor


@pytest.mark.parametrize("ending", ["", "\n"])
def test_carets_are_below_what_they_point_at(ending: str) -> None:
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as executor:
        error = executor.run(f"def f(r):\n    return 3 * r + 1{ending}")
        error = executor.run(f"f(None){ending}")
    lines = error.stderr.splitlines()
    at = lines.index("    return 3 * r + 1")
    if "~" in lines[at + 1]:  # not before Python 3.11
        assert lines[at + 1].rstrip() == "           ~~^~~"


@pytest.mark.parametrize(
    ("code", "exit_code", "message"),
    [
        ("3", 3, "3"),
        ("'bye'", 1, "bye"),
        ("'z' * 100_000", 1, "z" * 8191),
        ("'ü' * 9_000", 1, None),
    ],
)
def test_what_a_program_says_at_its_end_is_told(
    code: str, exit_code: int, message: str | None
) -> None:
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as executor:
        result = executor.run(f"raise SystemExit({code})")
        assert executor.run("1").value == "1"
    assert result.exit_code == exit_code
    assert result.error is not None
    assert result.error.message == message or message is None
    assert result.stderr == ("" if code == "3" else f"{result.error.message}\n")


def test_lines_are_those_that_python_counts() -> None:
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as executor:
        result = executor.run("a = '\x1c \u2028'\r\nb = 1\rc = 2\n1 / 0")
    assert result.error is not None and result.error.line == 4
    assert "    1 / 0\n" in result.stderr


def test_a_line_is_one_of_the_code_that_ran_not_of_an_earlier_function() -> None:
    with PythonExecutor(limits=ExecutorLimits(timeout_s=60)) as executor:
        executor.run("def mean(xs):\n    # of numbers\n    return sum(xs) / len(xs)")
        result = executor.run("xs = []\nmean(xs)")
    assert result.error is not None and result.error.line == 2
    assert "return sum(xs) / len(xs)" in result.stderr
