"""AgenticHarnessAdapter: how an environment starts one kind of agent, and talks with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, ClassVar

from openenv.harness.agents.errors import HarnessNotRunningError
from openenv.harness.agents.events import HarnessEvent, HarnessEventType, HarnessResponse

if TYPE_CHECKING:
    from openenv.env.tool_models import Tool
    from openenv.harness.agents.config import HarnessConfig


class AgenticHarnessAdapter(ABC):
    """One agent, as the environment around it sees it.

    An author writes the five abstract methods; `StdioHarnessAdapter`, `HTTPHarnessAdapter` and
    `MCPServerHarnessAdapter` are ready. An episode is `inject_tools`, `start`, turns, `stop`.

    Args:
        config: how the agent is started.

    Attributes:
        BUILTIN_TOOL_NAMES: tools that the agent has of its own; environment tools of these names
            are offered to it with the prefix `env_`.
        bridge_token: what the agent must show to the bridge, as `Authorization: Bearer TOKEN`;
            set before `inject_tools`.
    """

    BUILTIN_TOOL_NAMES: ClassVar[frozenset[str]] = frozenset()
    bridge_token: str | None = None

    def __init__(self, config: HarnessConfig) -> None:
        self.config = config

    @abstractmethod
    async def inject_tools(self, tools: list[Tool], bridge_url: str | None = None) -> None:
        """Takes what the agent is to be told of the environment's tools, before it is started.

        Args:
            tools: them, under the names by which the agent calls them.
            bridge_url: where an MCP client (Streamable HTTP) reaches them; `None` without tools.
        """

    @abstractmethod
    async def start(self, working_directory: str) -> None:
        """Starts the agent and waits until it is ready. Nothing if it runs.

        Args:
            working_directory: where it is to run.

        Raises:
            HarnessStartupError: it could not be started, or was not ready in time.
        """

    @abstractmethod
    async def stop(self) -> None:
        """Ends the agent and all that it started; also after a failed start, and twice."""

    @abstractmethod
    async def is_alive(self) -> bool:
        """Whether the agent runs."""

    @abstractmethod
    def send_message_streaming(self, message: str) -> AsyncIterator[HarnessEvent]:
        """Gives the agent a message: what it does, as it does it, up to its `turn_complete`.

        Raises:
            HarnessError: it failed, while the events are iterated.
        """

    async def send_message(self, message: str) -> HarnessResponse:
        """Gives the agent a message, and waits for the end of its turn.

        Raises:
            HarnessError: it failed.
        """
        events = [event async for event in self.send_message_streaming(message)]
        if not events or events[-1].type is not HarnessEventType.TURN_COMPLETE:
            raise HarnessNotRunningError(f"{self.config.name} ended before its turn was complete")
        return response_of(events)


def response_of(events: list[HarnessEvent]) -> HarnessResponse:
    """What a complete turn came to."""
    said = events[-1].data
    response = said.get("response")
    return HarnessResponse(
        response="" if response is None else str(response),
        events=events,
        done=said.get("done") is True,
    )
