"""smolagents' interpreter, for those whose numbers depend on it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from coding_env import CodeAction, CodeObservation
from coding_env.server import PythonCodeActEnv

Played = Callable[..., CodeObservation]

pytest.importorskip("smolagents", reason="pip install -e 'envs/coding_env[dev]'")


@pytest.fixture
def played() -> Iterator[Played]:
    """Runs pieces of code, the last of which is told, in an episode of a server's options."""
    with ExitStack() as stack:

        def play(*codes: str, **options: Any) -> CodeObservation:
            env = PythonCodeActEnv(executor="smolagents", **options)
            stack.callback(env.close)
            env.reset()
            return [env.step(CodeAction(code=code)) for code in codes][-1]

        yield play


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("code", "stdout", "exit_code"),
    [
        ("print('Hello, World!')", "Hello, World!\n", 0),
        ("x = 5 + 3", "8", 0),
        ("'abc'", '"abc"', 0),
        ("{1, 2}", "{1, 2}", 0),
        ("print('a')\n5", "a\n\n5", 0),
        ("None", "", 0),
        ("import math\nmath.floor(2.5)", "2", 0),
        ("safe_json_dumps([1])", '"[1]"', 0),
        ("import os", "", 1),
        ("import json", "", 1),
        ("1 / 0", "", 1),
        ("def f(", "", 1),
        ("raise SystemExit(3)", "", 1),
        ("print('before')\nraise ValueError('x')", "before\n", 1),
    ],
)
def test_it_answers_as_it_always_has(
    played: Played, code: str, stdout: str, exit_code: int
) -> None:
    seen = played(code)
    assert (seen.stdout, seen.exit_code) == (stdout, exit_code)
    assert (seen.error is None) == (seen.stderr == "") == (exit_code == 0)
    assert seen.metadata["sandbox"] == "none"


def test_a_function_has_a_value(played: Played) -> None:
    assert played("def f(): return 1").stdout.startswith("<function")


def test_imports_are_added_to_its_own(played: Played) -> None:
    seen = played("import json, math\njson.loads('3')", imports=["json"])
    assert seen.value == "3"


def test_output_is_limited(played: Played) -> None:
    seen = played("'z' * 1000", max_output=100)
    assert (len(seen.stdout), seen.output_truncated) == (100, True)


def test_names_last_through_the_episode(played: Played) -> None:
    assert played("x = 6", "x * 7").value == "42"
    assert played("x").exit_code == 1


def test_an_episode_may_have_the_sandbox() -> None:
    env = PythonCodeActEnv(executor="smolagents")
    try:
        env.reset()
        assert env.step(CodeAction(code="x = 1")).value == "1"
        env.reset(executor="sandbox")
        assert env.step(CodeAction(code="x")).exit_code == 1
        assert env.step(CodeAction(code="x = 1")).value is None
    finally:
        env.close()


def test_tools_can_be_called(played: Played) -> None:
    assert played("double(21)", tools={"double": lambda n: 2 * n}).value == "42"
