"""Rewards by hidden tests."""

from collections.abc import Callable

import pytest

from coding_env import CodeAction, CodeObservation
from coding_env.hidden_tests import HiddenTests
from openenv import errors
from tests.envs.coding.conftest import Coding

Played = Callable[..., CodeObservation]

RIGHT = "def add(a, b):\n    return a + b"
ASSERTIONS = "assert add(1, 2) == 3\nassert add(-1, 1) == 0\nassert add((1,), (2,)) == (1, 2)"
FUNCTIONS = """
import math
LIMIT = 3

def close(a, b):
    return math.isclose(a, b)

def test_whole():
    assert add(1, 2) == LIMIT

def test_parts():
    assert close(add(0.1, 0.2), 0.3)

def test_refusal():
    try:
        add(1, 'x')
    except TypeError:
        return
    raise AssertionError
"""


@pytest.mark.parametrize("tests", [ASSERTIONS, FUNCTIONS], ids=["assertions", "functions"])
def test_all_pass(played: Played, tests: str) -> None:
    seen = played(RIGHT, tests=tests)
    assert (seen.reward, seen.done) == (1.0, True)
    assert (seen.metadata["tests_passed"], seen.metadata["tests_total"]) == (3, 3)


@pytest.mark.parametrize(
    ("code", "reward"),
    [
        ("def add(a, b):\n    return 3", 1 / 3),
        ("def add(a, b):\n    return a - b", 0.0),
        ("def add(a, b):\n    raise KeyError", 0.0),
        ("def plus(a, b):\n    return a + b", 0.0),
        ("add = 5", 0.0),
        ("", 0.0),
        ("def add(", 0.0),
        (f"{RIGHT}\n1 / 0", 1.0),
        (f"{RIGHT}\nraise SystemExit(0)", 1.0),
        ("def add(a, b):\n    return object()", 0.0),
    ],
)
def test_the_share_that_passes_is_the_reward(played: Played, code: str, reward: float) -> None:
    seen = played(code, tests=ASSERTIONS)
    assert seen.reward == pytest.approx(reward)
    assert seen.done is (reward == 1.0)
    assert f"[{round(3 * reward)} of 3 tests pass]" in seen.text


@pytest.mark.parametrize(
    "code",
    [
        "def add(a, b):\n    import os; os._exit(0)",
        "def add(a, b):\n    raise SystemExit(0)",
        "import os\nos._exit(0)",
        "class Any:\n    def __eq__(self, other): return True\nadd = lambda a, b: Any()",
        "import builtins\nbuiltins.AssertionError = ()\nbuiltins.repr = lambda value: 'True'",
        "import builtins, sys\nsys.exit = lambda code=0: None\nexit = quit = sys.exit\nadd = print",
        "def add(a, b):\n    while True: pass",
        "while True: pass",
    ],
)
def test_a_submission_cannot_pass_by_itself(played: Played, code: str) -> None:
    seen = played(code, tests=ASSERTIONS, code_timeout_s=0.7)
    assert (seen.reward, seen.done) == (0.0, False)
    assert "[0 of 3 tests pass]" in seen.text


@pytest.mark.parametrize(
    "tests",
    ["assert all(map(lambda n: add(n, n) == 2 * n, [1, 2]))", "assert [*map(add, [1])] == []"],
)
def test_a_submission_cannot_end_the_loop_of_a_test(played: Played, tests: str) -> None:
    seen = played("def add(*given):\n    raise StopIteration", tests=tests)
    assert (seen.reward, seen.done) == (0.0, False)


def test_a_test_that_takes_too_long_is_told(played: Played) -> None:
    tests = "assert add(1, 2) == 3\nassert add(3, 4) == 7"
    code = "def add(a, b):\n    while a == 3: pass\n    return a + b"
    seen = played(code, tests=tests, code_timeout_s=5)
    assert (seen.reward, seen.done) == (0.5, False)
    assert seen.text.endswith("[1 of 2 tests pass]\n[the time was over before all tests were]")


def test_a_submission_does_not_see_the_tests(played: Played) -> None:
    code = (
        "import gc, sys\n"
        "def add(a, b):\n"
        "    frame, found = sys._getframe(), []\n"
        "    while frame: found.append(str(frame.f_code.co_consts) + str(frame.f_globals)); "
        "frame = frame.f_back\n"
        "    texts = [each for each in gc.get_objects() if isinstance(each, str)]\n"
        "    return any('SECRET' in text for text in found + texts)"
    )
    assert played(code, tests="SECRET = 3\nassert add(1, 2) is False\n'SECRET'").reward == 1.0


def test_what_passes_the_tests_may_come_in_several_steps(coding: Coding) -> None:
    coding.reset(tests=ASSERTIONS)
    assert coding.step(CodeAction(code="def add(a, b): return 0")).reward == pytest.approx(1 / 3)
    result = coding.step(CodeAction(code=RIGHT))
    assert (result.reward, result.done) == (1.0, True)
    after = coding.step(CodeAction(code=RIGHT))
    assert (after.reward, after.done) == (0.0, True)
    assert "SECRET" not in str(coding.state())


def test_expressions_of_a_submission(played: Played) -> None:
    code = "class Stack(list):\n    def push(self, x): self.append(x); return self"
    tests = "assert submission('Stack().push(1).pop()') == 1\nassert list(map(int, '12')) == [1, 2]"
    assert played(code, tests=tests).reward == 1.0


def test_values_that_are_not_called(played: Played) -> None:
    assert played("answer = {'x': (1, 2)}", tests="assert answer['x'] == (1, 2)").reward == 1.0


def test_a_value_may_be_larger_than_what_is_shown(played: Played) -> None:
    code = "def words(n):\n    return ['word'] * n"
    seen = played(code, tests="assert len(words(1000)) == 1000", max_output=10)
    assert seen.reward == 1.0


def test_what_is_random_in_tests_is_settled_by_the_seed(coding: Coding) -> None:
    tests = "import random\n" + "assert random.random() < 0.5\n" * 20
    rewards = set()
    for _ in range(3):
        coding.reset(seed=5, tests=tests)
        rewards.add(coding.step(CodeAction(code="pass")).reward)
    assert len(rewards) == 1


def test_the_output_of_the_step_is_shown_and_that_of_the_tests_is_not(played: Played) -> None:
    seen = played(f"print('mine')\n{RIGHT}", tests=f"print('hidden')\n{ASSERTIONS}")
    assert (seen.stdout, seen.reward) == ("mine\n", 1.0)


@pytest.mark.parametrize(
    ("tests", "total", "wanted"),
    [
        (ASSERTIONS, 3, ["add"]),
        (FUNCTIONS, 3, ["add"]),
        ("check(solve)", 1, ["check", "solve"]),
        ("x = f(1)\nassert x\ny = [z for z in g(x)]\nassert len(y)", 2, ["f", "g"]),
        ("import a.b as c\nfrom d import e\nassert c.f(e) and a", 1, ["a"]),
        ("submission('1')", 1, []),
    ],
)
def test_what_is_a_test_and_what_is_the_submission_s(
    tests: str, total: int, wanted: list[str]
) -> None:
    read = HiddenTests(tests)
    assert (read.total, read.wanted) == (total, wanted)


@pytest.mark.parametrize(
    "tests",
    ["", "assert (", "return 5", "assert 1" + "+1" * 20_000, "\0"],
    ids=["empty", "unparsable", "return", "deep", "null byte"],
)
def test_tests_that_are_none_are_refused(coding: Coding, tests: str) -> None:
    with pytest.raises(errors.InvalidRequest, match="tests"):
        coding.reset(tests=tests)
