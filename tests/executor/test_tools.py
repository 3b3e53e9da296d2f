"""Tools: the caller's functions in the code's hands."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from openenv.executor import ExecutorLimits, PythonExecutor
from openenv.protocol.errors import ConfigurationError

LIMITS = ExecutorLimits(timeout_s=60, tool_calls=5, tool_bytes=1000)


class Odd(Exception):
    """Of the caller's own."""


def add(a: Any, b: Any = 0) -> Any:
    """The sum."""
    return a + b


def fail(kind: str) -> None:
    """Raises."""
    raise {"KeyError": KeyError, "ValueError": ValueError, "Odd": Odd}[kind]("no such thing")


def leave() -> None:
    """What must not end the caller."""
    raise SystemExit(3)


TOOLS: dict[str, Callable[..., Any]] = {
    "add": add,
    "fail": fail,
    "leave": leave,
    "large": lambda: "x" * 2000,
    "odd": object,
    "nan": lambda: float("nan"),
    "where": lambda: threading.current_thread().name,
}


@pytest.fixture(scope="module")
def executor() -> Iterator[PythonExecutor]:
    with PythonExecutor(limits=LIMITS, tools=TOOLS) as executor:
        yield executor


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("add(1, b=2)", "3"),
        ("add([1], ['ü'])", '[1, "ü"]'),
        ("add({'a': None}.get('a') or 2.5)", "2.5"),
        ("[add(i) for i in range(5)]", "[0, 1, 2, 3, 4]"),
        ("nan()", '"NaN"'),
        ("where()", '"openenv-tool-where"'),
    ],
)
def test_results_are_values(executor: PythonExecutor, code: str, value: str) -> None:
    assert executor.run(code).value == value


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("fail('KeyError')", "KeyError: 'no such thing'"),
        ("fail('ValueError')", "ValueError: no such thing"),
        ("fail('Odd')", "Odd: no such thing"),
        ("leave()", "SystemExit: 3"),
        ("large()", "ValueError: the result of large() takes 2002 bytes"),
        ("add('x' * 2000)", "ValueError: the arguments of add() take 2010 bytes"),
        ("odd()", "TypeError: odd() returned no JSON"),
        ("add(object())", "TypeError: add() takes what JSON can say"),
        ("add(float('nan'))", "TypeError: add() takes what JSON can say"),
        ("add()", "TypeError: add() missing 1 required positional argument"),
        ("add(1, c=2)", "TypeError: add() got an unexpected keyword argument 'c'"),
        ("for i in range(6): add(i)", "RuntimeError: this code has called tools 5 times"),
    ],
)
def test_errors_are_raised_in_the_code(executor: PythonExecutor, code: str, error: str) -> None:
    result = executor.run(code)
    assert error in result.stderr
    assert result.exit_code == 1
    assert executor.run("add(1, 1)").value == "2"


def test_code_can_catch_them(executor: PythonExecutor) -> None:
    code = (
        "try:\n    fail('KeyError')\nexcept KeyError as error:\n    caught = error.args[0]\ncaught"
    )
    assert executor.run(code).value == '"no such thing"'


def test_only_a_running_piece_of_code_can_call() -> None:
    called: list[int] = []
    thread = (
        "import threading\nrun_on = threading.Event()\n"
        "def call():\n    global told\n    run_on.wait()\n"
        "    try: told = tool(1)\n    except RuntimeError as error: told = error\n"
        "thread = threading.Thread(target=call); thread.start()"
    )
    with PythonExecutor(limits=LIMITS, tools={"tool": called.append}) as executor:
        executor.run(thread)
        executor.run("threading.Timer(0.05, run_on.set).start()")
        while executor.run("thread.is_alive()").value == "true" and not called:
            pass  # it asks in one of these pauses, or in a piece of code
        told = executor.run("str(told)").value
    assert called or "only while a piece of code runs" in str(told)


FORGERY = r"""
import os, struct
body = b'\x83\xa5token\xc4\x10' + bytes(16) + b'\xa4tool\xa4tool\xa9arguments\xc4\x07[[1],{}]'
for descriptor in range(3, 50):
    try: os.write(descriptor, struct.pack('!BI', 3, len(body)) + body)
    except OSError: pass
"""


def test_a_call_that_was_forged_ends_the_interpreter() -> None:
    called: list[int] = []
    with PythonExecutor(limits=LIMITS, tools={"tool": called.append}) as executor:
        result = executor.run(FORGERY)
        assert (result.exit_code, result.restarted) == (137, True)
        assert executor.run("tool(2)").exit_code == 0
    assert called == [2]


def test_one_that_hangs_costs_the_code_its_time_and_nobody_else_anything() -> None:
    go_on = threading.Event()
    tools: dict[str, Callable[..., Any]] = {"hang": go_on.wait, "add": add}
    with PythonExecutor(limits=LIMITS, tools=tools) as executor:
        result = executor.run("print('a'); hang()", timeout_s=0.5)
        assert (result.stdout, result.exit_code, result.timed_out) == ("a\n", 124, True)
        assert "has not returned yet" in executor.run("add(1, 1)").stderr
        go_on.set()
        while executor.run("add(1, 1)").value != "2":
            pass


def test_one_that_hangs_does_not_hold_up_close() -> None:
    go_on, is_called = threading.Event(), threading.Event()

    def hang() -> None:
        is_called.set()
        go_on.wait()

    executor = PythonExecutor(limits=LIMITS, tools={"hang": hang})
    running = threading.Thread(target=executor.run, args=("hang()",))
    running.start()
    is_called.wait()
    executor.close()
    running.join()
    go_on.set()


@pytest.mark.parametrize("name", ["", "a b", "1x", "x.y"])
def test_names_that_code_cannot_call(name: str) -> None:
    with pytest.raises(ConfigurationError, match="tools must be functions"):
        PythonExecutor(tools={name: add})
