"""Tools that live in the interpreter, and what `help` says of those that do not."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from openenv.executor import Inside, PythonExecutor
from openenv.protocol.errors import ConfigurationError


def search(query: str, limit: int = 3) -> list[str]:
    """Pages about something."""
    return [f"{query} {n}" for n in range(limit)]


def nested() -> Callable[[], None]:
    def inner() -> None:
        """Nowhere to be imported from."""

    return inner


def test_objects_go_in_and_come_out_as_they_are() -> None:
    tools: dict[str, Any] = {"count": Inside(Counter), "root": Inside(math.sqrt), "search": search}
    with PythonExecutor(tools=tools, imports=()) as executor:
        executor.run("found = count(x for page in search('ab', 2) for x in page)")
        assert executor.run("found.most_common(1), root(9)").value == '[[["a", 2]], 3.0]'
        assert executor.run("count is type(found)").value == "true"
        assert "not allowed" in executor.run("import collections").stderr


def test_they_run_in_the_interpreter() -> None:
    import os

    with PythonExecutor(tools={"inside": Inside(os.getpid), "here": os.getpid}) as executor:
        assert executor.run("import os; inside() == os.getpid()").value == "true"
        assert executor.run("here() == os.getpid()").value == "false"


@pytest.mark.parametrize("function", [nested(), lambda: 1, "text"], ids=["nested", "lambda", "str"])
def test_only_what_can_be_imported_can_be_inside(function: Any) -> None:
    with pytest.raises(ConfigurationError, match="top level of a module"):
        Inside(function)


def test_code_needs_a_name_to_call() -> None:
    with pytest.raises(ConfigurationError, match="names that code can call"):
        PythonExecutor(tools={"a b": Inside(math.sqrt)})


def test_help_shows_signatures_and_docstrings() -> None:
    with PythonExecutor(tools={"search": search}) as executor:
        told = executor.run("help(search)").stdout
    assert "search(query: str, limit: int = 3) -> list[str]" in told
    assert "Pages about something." in told
