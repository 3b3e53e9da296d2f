"""What a piece of code gives, and what is remembered of it."""

import base64
import json
from collections.abc import Callable

import pytest

from coding_env import CodeAction, CodeObservation
from coding_env.server import PythonCodeActEnv
from openenv import Transform, errors
from tests.envs.coding.conftest import Coding, Run
from tests.markup import view_of

Played = Callable[..., CodeObservation]


def test_a_reset_is_empty_and_earns_nothing(coding: Coding) -> None:
    result = coding.reset(seed=5)
    seen = result.observation
    assert (seen.stdout, seen.stderr, seen.exit_code) == ("", "", 0)
    assert (result.reward, result.done) == (0.0, False)
    assert seen.metadata["seed"] == 5
    assert seen.metadata["sandbox"] in ("full", "partial", "none")


def test_a_form_asks_for_code_and_a_step_takes_none() -> None:
    assert CodeAction.model_json_schema()["properties"]["code"]["minLength"] == 1
    assert CodeAction(code="").code == ""


def test_hello_world(run: Run) -> None:
    result = run("print('Hello, World!')")
    seen = result.observation
    assert (seen.stdout, seen.stderr, seen.exit_code) == ("Hello, World!\n", "", 0)
    assert (result.reward, result.done) == (0.1, False)
    assert seen.metadata["last_code"] == "print('Hello, World!')"
    assert seen.text == "Hello, World!"


@pytest.mark.parametrize(
    ("code", "stdout", "value"),
    [
        ("x = 5 + 3", "", None),
        ("5 + 3", "8", "8"),
        ("'abc'", '"abc"', '"abc"'),
        ("[1, (2, 3), True, None]", *["[1, [2, 3], true, null]"] * 2),
        ("{1: {2}}", *["{1: {2}}"] * 2),
        ("{'a': 1.5}", *['{"a": 1.5}'] * 2),
        ("None", "", None),
        ("print('a')\n5", "a\n\n5", "5"),
        ("print('a')", "a\n", None),
        ("def f(): return 1", "", None),
        ("2 + 2  # a comment", "4", "4"),
        ("4 if True else 5;", "4", "4"),
        ("float('nan')", "nan", "nan"),
        ("", "", None),
        ("# nothing", "", None),
        ("print('ünï🙂', 1, sep='-', end='!')", "ünï🙂-1!", None),
    ],
)
def test_the_value_of_a_last_expression_is_shown(
    run: Run, code: str, stdout: str, value: str | None
) -> None:
    seen = run(code).observation
    assert (seen.stdout, seen.value, seen.exit_code) == (stdout, value, 0)


@pytest.mark.parametrize(
    "code",
    [
        "[y := 3, y][1]",
        "match 3:\n    case n: n = n\nn",
        "list(n for n in (3,))[0]",
        "def g():\n    yield 3\nnext(g())",
        "class A:\n    n = 3\nA.n",
        "def f():\n    global m\n    m = 3\nf()\nm",
        "first, *rest = 3, 4, 5\nfirst",
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(3).x",
        "import json, typing, functools, string\njson.loads('3')",
        "import asyncio\nasync def a(): return 3\nasyncio.run(a())",
        "with __import__('contextlib').suppress(KeyError): {}[1]\n3",
    ],
)
def test_it_is_all_of_python(run: Run, code: str) -> None:
    seen = run(code).observation
    assert (seen.stderr, seen.value) == ("", "3")


def test_names_last_through_the_episode_and_no_longer(coding: Coding) -> None:
    coding.reset()
    coding.step(CodeAction(code="x = 6\ndef double(n): return 2 * n"))
    assert coding.step(CodeAction(code="double(x)")).observation.value == "12"
    failed = coding.step(CodeAction(code="y = 1\nraise KeyError\ny = 2")).observation
    assert failed.exit_code == 1
    assert coding.step(CodeAction(code="x, y")).observation.value == "[6, 1]"
    coding.reset()
    gone = coding.step(CodeAction(code="x")).observation
    assert (gone.exit_code, gone.error and gone.error.type) == (1, "NameError")


def test_an_exception_keeps_the_output_and_shows_the_agent_s_lines_alone(run: Run) -> None:
    code = "def f():\n    raise ValueError('ünï')\nprint('before')\nf()"
    seen = run(code).observation
    assert (seen.stdout, seen.exit_code) == ("before\n", 1)
    assert seen.error is not None
    assert (seen.error.type, seen.error.message, seen.error.line) == ("ValueError", "ünï", 2)
    assert seen.stderr.startswith("Traceback (most recent call last):\n")
    assert seen.stderr.endswith("ValueError: ünï\n")
    assert "line 4, in <module>" in seen.stderr
    assert "raise ValueError" in seen.stderr
    assert "openenv" not in seen.stderr
    assert seen.text == f"before\n{seen.stderr.rstrip()}\n[exit code 1]"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("nothing", "NameError"),
        ("import no_such_module", "ModuleNotFoundError"),
        ("def f(:", "SyntaxError"),
        ("  x = 1", "IndentationError"),
        ("assert False, 'no'", "AssertionError"),
    ],
)
def test_errors_are_named(run: Run, code: str, kind: str) -> None:
    seen = run(code).observation
    assert seen.error is not None
    assert seen.error.type == kind
    assert (seen.exit_code, seen.error.line) == (1, 1)
    assert seen.stderr.rstrip().splitlines()[-1].startswith(kind)


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("raise SystemExit(3)", 3),
        ("import sys\nsys.exit(7)", 7),
        ("exit()", 0),
        ("raise KeyboardInterrupt", 130),
        ("raise GeneratorExit", 1),
    ],
)
def test_exit_codes_are_those_of_a_program(run: Run, code: str, exit_code: int) -> None:
    result = run(code)
    assert (result.observation.exit_code, result.done) == (exit_code, False)
    assert run("1").observation.value == "1"


def test_the_state_tells_the_last_exit_code(coding: Coding) -> None:
    coding.reset(episode_id="first")
    assert coding.state().last_exit_code == 0
    coding.step(CodeAction(code="1 / 0"))
    state = coding.state()
    assert (state.episode_id, state.step_count, state.last_exit_code) == ("first", 1, 1)
    coding.step(CodeAction(code="1"))
    assert (coding.state().step_count, coding.state().last_exit_code) == (2, 0)
    coding.reset()
    assert (coding.state().step_count, coding.state().last_exit_code) == (0, 0)


def test_files_come_back_as_artefacts(run: Run) -> None:
    seen = run("with open('a.txt', 'w') as file: print('hello', file=file)").observation
    (made,) = seen.artefacts
    assert (made.name, made.mime, made.content) == ("a.txt", "text/plain", b"hello\n")
    assert base64.b64decode(made.base64) == b"hello\n"
    assert "[made a.txt (text/plain)]" in seen.text
    again = run("open('a.txt').read()").observation
    assert (again.value, again.artefacts) == (json.dumps("hello\n"), [])


@pytest.mark.timeout(60)
def test_figures_come_back_as_artefacts(run: Run) -> None:
    pytest.importorskip("matplotlib", reason="pip install -e 'envs/coding_env[dev]'")
    seen = run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()").observation
    assert [made.mime for made in seen.artefacts] == ["image/png"]
    assert seen.artefacts[0].content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "code",
    [
        "for n in range(20): open(f'{n}.txt', 'w').write('x')",
        "open('a', 'wb').write(bytes(9 << 20))",
    ],
)
def test_artefacts_that_are_left_out_are_no_output_that_was_cut(run: Run, code: str) -> None:
    seen = run(code).observation
    assert (seen.artefacts_truncated, seen.output_truncated) == (True, False)
    assert "[more was made, and left out" in seen.text
    assert "cut" not in seen.text


def test_the_same_seed_draws_the_same_numbers(coding: Coding) -> None:
    def draw(seed: int | None) -> str | None:
        coding.reset(seed=seed)
        code = "import random\n[random.random(), {'a', 'b', 'c', 'd'}]"
        return coding.step(CodeAction(code=code)).observation.value

    first, other = draw(1), draw(2)
    assert draw(1) == first
    assert other != first
    assert draw(None) not in (first, other)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("", "[no output]"),
        ("print()", "[no output]"),
        ("print('a')\n5", "a\n5"),
        ("print('5')\n5", "5\n5"),
        ("print('a', end='')\n''", 'a\n""'),
        ("import sys\nprint('e', file=sys.stderr)\nsys.exit(3)", "e\n[exit code 3]"),
    ],
)
def test_the_text_is_what_a_reader_needs(run: Run, code: str, text: str) -> None:
    assert run(code).observation.text == text


def test_what_a_command_prints_is_whole_and_its_exit_code_too(run: Run) -> None:
    code = (
        "import subprocess, sys\n"
        "sys.exit(subprocess.run('sleep 0.2; echo done; exit 7', shell=True).returncode)"
    )
    seen = run(code).observation
    assert (seen.stdout, seen.exit_code) == ("done\n", 7)


def test_another_transform_pays_otherwise() -> None:
    class Success(Transform[CodeObservation]):
        def __call__(self, observation: CodeObservation) -> CodeObservation:
            observation.reward = float(observation.exit_code == 0)
            return observation

    env = PythonCodeActEnv(transform=Success())
    try:
        assert env.reset().reward == 0.0
        assert env.step(CodeAction(code="import os")).reward == 1.0
        assert env.step(CodeAction(code="1 / 0")).reward == 0.0
    finally:
        env.close()


def test_a_page_shows_the_last_step() -> None:
    env = PythonCodeActEnv()
    try:
        assert view_of(env, env.reset()).words == "[ready]"
        seen = env.step(CodeAction(code="open('a.txt', 'w').write('hi')\nprint('<b>')\n1 / 0"))
        shown = view_of(env, seen)
        assert "Exit code 1" in shown.words
        assert "Line 3: ZeroDivisionError: division by zero" in shown.words
        assert "Output <b>" in shown.words
        assert "Made a.txt (text/plain, " in shown.words
        assert shown.tags.count("mark") == 1
    finally:
        env.close()


def test_a_page_shows_the_pictures_and_the_tests() -> None:
    env = PythonCodeActEnv()
    try:
        env.reset(tests="assert x == 1")
        drawn = env.step(CodeAction(code="x = 1\nopen('dot.gif', 'wb').write(b'GIF89a')"))
        shown = view_of(env, drawn)
        assert "Tests 1 of 1 pass" in shown.words
        assert (shown.tags.count("img"), shown.labels[-1]) == (1, "dot.gif")
    finally:
        env.close()


def test_a_long_code_is_shown_in_part(run: Run) -> None:
    code = "x = 1  # " + "y" * 20_000
    assert run(code).observation.metadata["last_code"] == f"{code[:10_000]}…"


def test_a_step_before_the_first_reset_is_refused() -> None:
    with pytest.raises(errors.ResetRequired, match="reset"):
        PythonCodeActEnv().step(CodeAction(code="1"))


def test_tools_are_functions_of_the_code() -> None:
    asked = []

    def search(query: str, limit: int = 3) -> list[str]:
        asked.append((query, limit))
        if not query:
            raise ValueError("an empty query")
        return [f"{query} {number}" for number in range(limit)]

    env = PythonCodeActEnv(tools={"search": search})
    try:
        env.reset()
        seen = env.step(CodeAction(code="found = search('owls', limit=2)\nfound[1]"))
        assert (seen.value, asked) == ('"owls 1"', [("owls", 2)])
        failed = env.step(CodeAction(code="search('')"))
        assert failed.error is not None
        assert (failed.error.type, failed.error.message) == ("ValueError", "an empty query")
        env.reset()
        assert env.step(CodeAction(code="len(search('owls'))")).value == "3"
    finally:
        env.close()
