"""An environment's tools as functions."""

from typing import Any

import pytest

from openenv.env.tool_functions import tool_functions
from tests.tools.worlds import Decorated, Served

MAKE: Any = Decorated  # type checkers do not see that tools are step enough
DECORATED = MAKE()


@pytest.fixture(params=[Decorated, Served])
def world(request: pytest.FixtureRequest) -> Any:
    environment = request.param()
    environment.reset()
    yield environment
    environment.close()


def test_they_are_called_as_functions_are(world: Any) -> None:
    functions = tool_functions(world)
    assert functions["add"](1, 2) == functions["add"](1, b=2) == functions["add"](a="1", b=2) == 3
    assert functions["increment"]() == 1
    assert functions["wait"](0) == "waited"


@pytest.mark.parametrize(
    ("args", "arguments", "why"),
    [
        ((1,), {}, "b:"),
        ((1, 2, 3), {}, "at most 2"),
        ((1,), {"a": 1}, "two values of a"),
        ((1, 2), {"c": 3}, "c:"),
        (("x", 2), {}, "a:"),
    ],
)
def test_wrong_arguments_are_type_errors(
    world: Any, args: tuple[Any, ...], arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(TypeError, match=why):
        tool_functions(world)["add"](*args, **arguments)


@pytest.mark.expects_error_log  # of FastMCP's own
def test_they_raise_what_the_tools_do_and_a_number_in_production(world: Any) -> None:
    with pytest.raises(ValueError, match="a ValueError"):
        tool_functions(world)["fail"]("ValueError")
    with pytest.raises(RuntimeError, match="incident") as hidden:
        tool_functions(world, "production")["fail"]("ValueError")
    assert "a ValueError" not in str(hidden.value)
    with pytest.raises(Exception, match="not today"):
        tool_functions(world, "production")["refuse"]()


def test_those_of_the_other_mode_are_left_out() -> None:
    assert "rehearse" in tool_functions(DECORATED)
    assert "rehearse" not in tool_functions(DECORATED, "production")
    assert tool_functions(DECORATED, "production")["perform"]() == "performed"


def test_a_generator_is_no_value() -> None:
    with pytest.raises(Exception, match="generator"):
        tool_functions(DECORATED)["generator"]()
