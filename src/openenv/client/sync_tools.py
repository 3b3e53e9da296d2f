"""SyncToolClient: an `MCPToolClient` that blocks, precisely typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, cast, overload

from openenv.client.codec import ActT, ObsT, StateT
from openenv.client.results import StepResult
from openenv.client.sync_client import SyncEnvClient
from openenv.env.tool_models import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
)

if TYPE_CHECKING:
    from openenv.client.tools import MCPToolClient


class SyncToolClient(SyncEnvClient[ActT, ObsT, StateT], Generic[ActT, ObsT, StateT]):
    """The blocking form of a client of tools: `client.sync()`."""

    _client: MCPToolClient[ActT, ObsT, StateT]

    @overload
    def step(
        self, action: CallToolAction, timeout_s: float | None = None
    ) -> StepResult[CallToolObservation]: ...

    @overload
    def step(
        self, action: ListToolsAction, timeout_s: float | None = None
    ) -> StepResult[ListToolsObservation]: ...

    @overload
    def step(self, action: ActT, timeout_s: float | None = None) -> StepResult[ObsT]: ...

    def step(self, action: Any, timeout_s: float | None = None) -> StepResult[Any]:
        """Takes one action, which may be one of tools; errors as `MCPToolClient.step`."""
        return super().step(action, timeout_s)

    def list_tools(self, use_cache: bool = True) -> list[Tool]:
        """The tools there are now; arguments and errors as `MCPToolClient.list_tools`."""
        return cast("list[Tool]", self._client.list_tools(use_cache))

    def call_tool(
        self,
        name: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        /,
        **more: Any,
    ) -> Any:
        """Calls a tool; arguments and errors as `MCPToolClient.call_tool`."""
        return self._client.call_tool(name, arguments, timeout_s, **more)

    def get_tool(self, name: str) -> Tool | None:
        """A tool by its name; errors as `MCPToolClient.get_tool`."""
        return cast("Tool | None", self._client.get_tool(name))

    def has_tool(self, name: str) -> bool:
        """Whether there is such a tool now; errors as `MCPToolClient.has_tool`."""
        return cast("bool", self._client.has_tool(name))
