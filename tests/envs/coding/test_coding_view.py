"""What a page shows of a step."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from coding_env import CodeAction
from coding_env.server import PythonCodeActEnv
from tests.markup import Markup, view_of

View = Callable[..., Markup]
GONE = "its variables and files are gone"


@pytest.fixture
def view() -> Iterator[View]:
    """Shows what a piece of code gave, in an episode with the given options."""
    with ExitStack() as stack:

        def show(code: str, **options: Any) -> Markup:
            environment = stack.enter_context(closing(PythonCodeActEnv()))
            environment.reset(seed=1, **options)
            return view_of(environment, environment.step(CodeAction(code=code)))

        yield show


def test_what_stopped_it_is_said_once(view: View) -> None:
    cell = "import sys\nprint('told', file=sys.stderr, flush=True)\nwhile True: pass"
    seen = view(cell, code_timeout_s=1)
    assert seen.words.count(f"Timeout: the code ran longer than 1 s; {GONE}") == 1
    assert seen.words.endswith("Errors told")
    assert seen.classes.count("notice bad") == 1
    seen = view("import os\nos._exit(3)")
    assert seen.words.endswith(f"Killed: the interpreter died: exit code 3; {GONE}")
    assert seen.classes.count("notice bad") == 1


def test_a_restart_that_no_error_tells_of_is_told(view: View) -> None:
    seen = view("import os\nos._exit(0)")
    assert seen.words.endswith("The interpreter was restarted: variables are gone.")
    seen = view("class Killed(Exception): ...\nraise Killed('by me')")
    assert "Line 2: Killed: by me" in seen.words
    assert seen.classes.count("notice bad") == 1


def test_want_of_memory_is_said_once(view: View) -> None:
    seen = view("x = bytearray(300 << 20)", memory_mb=128)
    assert "Line 1: MemoryError" in seen.words
    assert seen.classes.count("notice bad") == 1
