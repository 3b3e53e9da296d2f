"""Environments that note whatever is done to them, and would let anybody do it."""

from typing import Any

from fastmcp import FastMCP

from openenv import CallToolAction, CallToolObservation, Environment, Observation, State, tool
from openenv.env.mcp_environment import MCPEnvironment
from openenv.env.tool_content import rendered
from openenv.env.tool_models import (
    RESERVED_TOOL_NAMES,
    ListToolsAction,
    ListToolsObservation,
    Tool,
)

JOURNAL: list[str] = []
"""What was done to all of them."""
COUNT = Tool(name="count", description="Counts.", input_schema={"type": "object"})


class Noting:
    """Notes what controls an episode."""

    number = 0

    def reset(self, seed: int | None = None, **options: Any) -> Observation:
        JOURNAL.append("reset" if seed is None and not _told(options) else "reset as told")
        self.number = 0
        return Observation()

    def counted(self) -> int:
        self.number += 1
        return self.number

    def step(self, action: Any, **_: Any) -> Observation:
        JOURNAL.append("step")
        return Observation()

    @property
    def state(self) -> State:
        JOURNAL.append("state")
        return State()

    def close(self) -> None:
        JOURNAL.append("close")


def _note(tool_name: str) -> None:
    if tool_name in RESERVED_TOOL_NAMES:
        JOURNAL.append(f"call of {tool_name}")


def _told(options: dict[str, Any]) -> bool:
    return any(name != "episode_id" for name in options)


class Decorated(Noting, Environment):
    """Its tools are methods."""

    @tool
    def count(self) -> int:
        """Counts."""
        return self.counted()


class Listing(Noting, Environment):
    """It lists its tools itself, and answers calls of any name."""

    def list_tools(self) -> list[Tool]:
        return [COUNT]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        if name == "count":
            return self.counted()
        _note(name)
        return name


class Stepping(Noting, Environment):
    """Its step answers calls of any name."""

    STEPS_TOOL_CALLS = True

    def list_tools(self) -> list[Tool]:
        return [COUNT]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    def step(self, action: Any, **_: Any) -> Any:
        if isinstance(action, ListToolsAction):
            return ListToolsObservation(tools=[COUNT])
        assert isinstance(action, CallToolAction)
        _note(action.tool_name)
        return CallToolObservation(tool_name=action.tool_name, result=rendered(self.counted()))


class Served(MCPEnvironment):
    """Its tools are a FastMCP server's, and calls go through its own step."""

    def __init__(self) -> None:
        server: FastMCP[Any] = FastMCP("served")
        counter = self._counter = [0]

        @server.tool
        def count() -> int:
            """Counts."""
            counter[0] += 1
            return counter[0]

        super().__init__(server)

    def reset(self, seed: int | None = None, **options: Any) -> Observation:
        JOURNAL.append("reset" if seed is None and not _told(options) else "reset as told")
        self._counter[0] = 0
        return Observation()

    def step(self, action: Any, timeout_s: float | None = None, **kwargs: Any) -> Any:
        if not isinstance(action, CallToolAction | ListToolsAction):
            JOURNAL.append("step")
        return super().step(action, timeout_s=timeout_s, **kwargs)

    @property
    def state(self) -> State:
        JOURNAL.append("state")
        return State()

    def close(self) -> None:
        JOURNAL.append("close")
        super().close()
