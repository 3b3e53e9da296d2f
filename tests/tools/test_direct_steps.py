"""Environments that are held in one's own process: their steps answer actions of tools."""

import asyncio
from typing import Any

import pytest

from openenv import (
    Action,
    CallToolAction,
    Environment,
    InvalidRequest,
    ListToolsAction,
    Observation,
    tool,
)


class Turn(Action):
    by: int = 1


class Dial(Environment[Turn, Observation]):
    def __init__(self) -> None:
        super().__init__()
        self.value = 0

    def reset(self, **kwargs: Any) -> Observation:
        self.value = 0
        return Observation()

    def step(self, action: Turn) -> Observation:
        self.value += action.by
        return Observation(reward=float(self.value))

    @tool
    def read(self) -> int:
        """What the dial shows."""
        return self.value

    @tool
    async def read_slowly(self) -> int:
        """What the dial shows, after a while."""
        await asyncio.sleep(0)
        return self.value


class Backwards(Dial):
    def step(self, action: Turn) -> Observation:
        return super().step(Turn(by=-action.by))


class Words(Environment):
    def reset(self, **kwargs: Any) -> Observation:
        return Observation()

    @tool
    def word(self) -> str:
        """A word."""
        return "word"


def called(env: Environment[Any, Any], name: str, **arguments: Any) -> Any:
    return env.step(CallToolAction(tool_name=name, arguments=arguments))


@pytest.mark.parametrize("made", [Dial, Backwards])
def test_a_step_lists_and_calls_tools_beside_its_own_actions(made: type[Dial]) -> None:
    env: Any = made()
    env.reset()
    assert abs(env.step(Turn(by=3)).reward or 0) == 3
    assert [each.name for each in env.step(ListToolsAction()).tools] == ["read", "read_slowly"]
    assert called(env, "read").result["data"] == env.value
    assert called(env, "no_such").error.error_type == "tool_not_found"
    assert called(env, "read", by=1).error.error_type == "invalid_args"


async def test_an_async_tool_is_called_inside_a_running_loop_too() -> None:
    env = Dial()
    env.reset()
    env.step(Turn(by=3))
    assert called(env, "read_slowly").result["data"] == 3


def test_an_environment_of_tools_alone_takes_nothing_else() -> None:
    made: Any = Words
    env = made()
    assert called(env, "word").result["data"] == "word"
    with pytest.raises(InvalidRequest, match="takes no action but calls of its tools"):
        env.step(Turn())
