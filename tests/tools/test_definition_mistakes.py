"""What is often written wrongly of a tool: told when the class is written, or a server starts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import cached_property
from typing import Any

import pytest

from openenv import (
    CallToolAction,
    ConfigurationError,
    Environment,
    GenericEnvClient,
    Observation,
    local,
    tool,
)
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFailed

SUM = {"a": 1, "b": 2}


class World(Environment):
    """Nothing but tools."""

    def reset(self, **options: Any) -> Observation:
        return Observation()


def no_parameter() -> None: ...


def no_self(item: str) -> None: ...


def no_self_nor_hint(item, amount=1) -> None: ...  # type: ignore[no-untyped-def]  # noqa: ANN001


def by_keyword(*, item: str) -> None: ...


def yields(self: Any) -> Iterator[int]:
    yield 1


async def yields_later(self: Any) -> AsyncIterator[int]:
    yield 1


def fine(self: Any) -> None: ...


@pytest.mark.parametrize(
    ("method", "advice"),
    [
        (no_parameter, r"World.no_parameter has no self: write def no_parameter\(self\)"),
        (no_self, r"write def no_self\(self, item: .*str.*\), or @staticmethod above @tool"),
        (no_self_nor_hint, r"write def no_self_nor_hint\(self, item, amount=1\)"),
        (by_keyword, "World.by_keyword has no self"),
        (yields, "World.yields yields, and a call gives one result: return a list"),
        (yields_later, "World.yields_later yields"),
        (property(fine), "fine is a property: leave out @property"),
        (cached_property(fine), "fine is a property"),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_what_can_be_no_tool_fails_when_the_class_is_written(method: Any, advice: str) -> None:
    getter = getattr(method, "fget", None) or getattr(method, "func", None)
    tool(getter or method)
    with pytest.raises(ConfigurationError, match=advice):
        type("OneWorld", (World,), {"attribute": method})


def test_above_a_property_it_fails_at_once() -> None:
    with pytest.raises(ConfigurationError, match="fine is a property"):
        tool(property(fine))  # type: ignore[call-overload]


def test_an_override_that_yields_is_no_tool_either() -> None:
    class Parent(World):
        @tool
        def count(self) -> Any: ...

    with pytest.raises(ConfigurationError, match="Child.count yields"):

        class Child(Parent):
            def count(self) -> Any:
                yield 1


def test_what_needs_no_self_has_none() -> None:
    class Free(World):
        @staticmethod
        @tool
        def add(a: int, b: int) -> int:
            return a + b

        @classmethod
        @tool
        def name(cls) -> str:
            return cls.__name__

    with local(Free, client_class=GenericEnvClient) as env:
        env.reset()
        called: Any = env.step(CallToolAction(tool_name="add", arguments=SUM)).observation
        assert called["result"]["data"] == 3


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"timeout": 3}, r"no option 'timeout': did you mean timeout_s\?"),
        ({"desc": "x"}, r"no option 'desc': did you mean description\?"),
        ({"xyzzy": 1}, "it has name, description, mode, timeout_s"),
    ],
)
def test_an_option_that_there_is_not_names_the_one_there_is(
    options: dict[str, Any], advice: str
) -> None:
    with pytest.raises(ConfigurationError, match=advice):
        tool(**options)


@pytest.mark.parametrize(
    ("decorated", "advice"), [("price", r"@tool\(name='price'\)"), (3, "above a method")]
)
def test_what_it_cannot_stand_above(decorated: Any, advice: str) -> None:
    with pytest.raises(ConfigurationError, match=advice):
        tool(decorated)


class Nothing(Environment):
    def reset(self) -> Observation:
        return Observation()


def test_one_with_neither_step_nor_tools_learns_of_both() -> None:
    with pytest.raises(ConfigurationError, match="must define step .*offer tools.*@tool"):
        EnvSpec.of(Nothing)


class GivesADict(World):
    def reset(self, **options: Any) -> Any:
        return {"cells": []}

    @tool
    def look(self) -> str:
        return "nothing"


class Board(Observation):
    cells: list[int] = []


class GivesADictForABoard(GivesADict):
    def reset(self, **options: Any) -> Board:
        return {"cells": []}  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("world", "named"), [(GivesADict, "Observation"), (GivesADictForABoard, "Board")]
)
def test_a_reset_that_gives_a_dict_learns_what_to_give(world: Any, named: str) -> None:
    with local(world) as env, pytest.raises(EnvironmentFailed, match=rf"return {named}\("):
        env.reset()


class Opaque(World):
    @tool
    def look(self, at: str, through: list[World]) -> None: ...


class Uncallable(World):
    @tool
    def apply(self, function: Callable[[int], int]) -> None: ...


@pytest.mark.parametrize(
    ("world", "hint"),
    [(Opaque, "through: list["), (Uncallable, "function: collections.abc.Callable")],
)
def test_a_hint_that_no_schema_is_of_is_named_in_a_line_of_ours(world: Any, hint: str) -> None:
    with pytest.raises(ConfigurationError) as failure:
        EnvSpec.of(world)
    told = str(failure.value)
    assert f"can't be described to an agent: {hint}" in told
    assert "pydantic" not in told
    assert len(told.splitlines()) == 1
