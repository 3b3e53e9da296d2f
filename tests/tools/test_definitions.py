"""How tools are defined: what is refused, and what an agent is told of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from openenv import ConfigurationError, Environment, Observation, ToolContext, tool
from openenv.env.spec import EnvSpec
from openenv.env.tool_models import CallToolObservation, Tool
from openenv.env.toolbox import Toolbox
from openenv.env.tools import tools_of


class World(Environment):
    """Nothing but tools."""

    def reset(self, **options: Any) -> Observation:
        return Observation()


class Colour(Enum):
    RED = "red"


class Item(BaseModel):
    name: str


@dataclass
class Box:
    items: list[Item]


class Typed(World):
    """Its arguments have all kinds of hints."""

    @tool
    def place(
        this,
        box: Box,
        /,
        day: date,
        colour: Colour,
        size: Literal["s", "l"] = "s",
        *,
        count: Annotated[int, Field(ge=1)] = 1,
        self: str = "",
        context: ToolContext | None = None,
        **rest: int,
    ) -> list[Any]:
        """Places a box.

        It takes a while.

        Args:
            box: what to place,
                with its items.
            day: when.
            colour (Colour): which.

        Returns:
            all of it.

        Raises:
            ValueError: never shown to an agent.
        """
        assert isinstance(context, ToolContext)
        return [box.items[0].name, day.year, colour.name, size, count, self, rest]


class Parent(World):
    @tool
    def look(self, at: str) -> str:
        """Looks."""
        return f"at {at}"


class Child(Parent):
    """It overrides a tool, which is one as before."""

    def look(self, at: str, *, twice: bool = False) -> str:
        return super().look(at) * (1 + twice)


def call(environment: Any, name: str, **arguments: Any) -> CallToolObservation:
    seen = Toolbox(environment).call_tool(name, arguments)
    assert isinstance(seen, CallToolObservation)
    return seen


PLACED: dict[str, Any] = {
    "box": {"items": [{"name": "a"}]},
    "day": "2030-01-02",
    "colour": "red",
    "self": "me",
    "extra": "7",
}


def made(world: Any) -> Any:
    """An instance: type checkers do not see that tools are step enough."""
    return world()


def test_a_schema_is_of_hints_and_docstring() -> None:
    [described] = [each.description for each in tools_of(Typed)]
    assert described.description.startswith("Places a box.\n\nIt takes a while.")
    assert "never shown" not in described.description
    properties = described.input_schema["properties"]
    assert properties.keys() == {"box", "day", "colour", "size", "count", "self"}
    assert described.input_schema["required"] == ["box", "day", "colour"]
    assert properties["box"]["description"] == "what to place, with its items."
    assert properties["colour"]["description"] == "which."
    assert properties["count"] == {"type": "integer", "minimum": 1, "default": 1}


def test_arguments_are_converted_and_validated() -> None:
    seen = call(made(Typed), "place", **PLACED)
    assert seen.error is None, seen.error
    assert seen.result["data"][:6] == ["a", 2030, "RED", "s", 1, "me"]
    wrong = call(made(Typed), "place", **{**PLACED, "count": 0, "size": "xl"}).error
    assert wrong is not None
    assert "count:" in wrong.message
    assert "size:" in wrong.message


@pytest.mark.parametrize("name", ["reset", "step", "state", "close"])
def test_a_reserved_name_fails_when_the_class_is_written(name: str) -> None:
    with pytest.raises(ConfigurationError, match="control the episode"):

        class Named(World):
            @tool(name=name)
            def anything(self) -> None: ...

    def forbidden(self: Any) -> None: ...

    forbidden.__name__ = name
    with pytest.raises(ConfigurationError, match="control the episode"):
        tool(forbidden)


def test_two_of_one_name_fail_when_a_server_starts() -> None:
    class Twice(World):
        @tool
        def look(self) -> None: ...

        @tool(name="look")
        def see(self) -> None: ...

    with pytest.raises(ConfigurationError, match="two tools called 'look'"):
        EnvSpec.of(Twice)

    class OfModes(World):
        @tool(name="look", mode="simulation")
        def rehearse(self) -> str:
            return "rehearsed"

        @tool(name="look", mode="production")
        def perform(self) -> str:
            return "performed"

    EnvSpec.of(OfModes)
    assert call(made(OfModes), "look").result["data"] == "rehearsed"
    performed = Toolbox(made(OfModes), "production").call_tool("look", {})
    assert isinstance(performed, CallToolObservation)
    assert performed.result["data"] == "performed"


class Starred(World):
    @tool
    def spread(self, *args: int) -> None: ...


class Unknown(World):
    @tool
    def look(self, at: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


class Opaque(World):
    @tool
    def look(self, at: World) -> None: ...


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (Starred, "take a list"),
        (Unknown, "can't be resolved"),
        (Opaque, "described to an agent: at: World; take text"),
    ],
    ids=["starred", "unknown", "opaque"],
)
def test_what_cannot_be_described_fails_when_a_server_starts(world: Any, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        EnvSpec.of(world)


@pytest.mark.parametrize(
    "options", [{"mode": "training"}, {"timeout_s": 0}, {"timeout_s": float("nan")}, {"name": ""}]
)
def test_wrong_options_of_the_decorator(options: dict[str, Any]) -> None:
    if options == {"name": ""}:
        tool(**options)(lambda self: None)  # it is the function's own then
        return
    with pytest.raises(ConfigurationError):
        tool(**options)


def test_an_override_is_the_tool() -> None:
    child = made(Child)
    assert call(child, "look", at="a", twice=True).result["data"] == "at aat a"
    [described] = [each.description for each in tools_of(Child)]
    assert described.input_schema["properties"].keys() == {"at", "twice"}


class Listing(World):
    """It lists a tool of its own beside a decorated one."""

    listed = "look"

    @tool
    def own(self) -> str:
        """Decorated."""
        return "own"

    def list_tools(self) -> list[Tool]:
        return [Tool(name=self.listed, description="", input_schema={"type": "object"})]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        return f"listed {name}"


def test_an_environment_may_list_its_own() -> None:
    world = made(Listing)
    listed = Toolbox(world).list_tools()
    assert isinstance(listed, list)
    assert [each.name for each in listed] == ["own", "look"]
    assert call(world, "own").result["data"] == "own"
    assert call(world, "look").result["data"] == "listed look"
    for name in ("own", "reset"):
        world.listed = name
        with pytest.raises(ConfigurationError, match=name):
            Toolbox(world).list_tools()
