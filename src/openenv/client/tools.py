"""MCPToolClient: a client that calls an environment's tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, cast

from openenv._flow import Flow
from openenv.client.codec import ActT, ObsT, StateT, fields_of
from openenv.client.conversation import BEYOND_S
from openenv.client.effects import Effect
from openenv.client.mcp_client import MCPClientBase
from openenv.client.pending import Pending
from openenv.client.tool_results import tool_observation
from openenv.env.tool_content import plain_result
from openenv.env.tool_models import CallToolAction, CallToolObservation, Tool, ToolErrorType
from openenv.protocol.errors import ConfigurationError, Json, OpenEnvError, ProtocolError

if TYPE_CHECKING:
    from openenv.client.sync_tools import SyncToolClient


class ToolCallFailed(OpenEnvError, RuntimeError):
    """The call of a tool gave no result; the session lives.

    Attributes:
        tool_name: which tool.
        reason: why, for people and agents.
        error_type: what kind of error it is.
    """

    def __init__(self, tool_name: str, reason: str, error_type: ToolErrorType) -> None:
        super().__init__(f"Tool {tool_name!r} failed: {reason}")
        self.tool_name = tool_name
        self.reason = reason
        self.error_type = error_type

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tool_name, self.reason, self.error_type)


class MCPToolClient(MCPClientBase[ActT, ObsT, StateT], Generic[ActT, ObsT, StateT]):
    """A client of an environment's tools.

        with MCPToolClient(base_url="http://localhost:8000").sync() as env:
            print([tool.name for tool in env.list_tools()])
            print(env.call_tool("add", a=1, b=2))

    A subclass may declare types for steps as well: `class EchoEnv(MCPToolClient[EchoAction,
    EchoObservation, State])`. Modes, arguments and errors are those of `MCPClientBase`.
    """

    def call_tool(
        self,
        name: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        timeout_s: float | None = None,
        /,
        **more: Any,
    ) -> Pending[Any]:
        """Calls a tool; gives its result as plain values.

        The result of a tool that answers without data is its text, or else its blocks of content.
        For the reward and the end of an episode take a step:
        `step(CallToolAction(tool_name=..., arguments=...))`.

            env.call_tool("add", a=1, b=2)
            env.call_tool("add", {"a": 1, "b": 2}, 10.0)

        Args:
            name: which; by position, as the next two, so that a tool's own arguments may have any
                name. (`name=` says it where no position does.)
            arguments: the tool's, by name.
            timeout_s: the longest that the call may run, in seconds; by default as long as the
                tool, or its server, says.
            **more: further arguments of the tool's.

        Raises:
            ConfigurationError: `arguments` is no mapping, or no tool is named.
            ToolCallFailed: it gave no result; the session lives.
            SessionError: otherwise as `step`.
        """
        if name is None:
            name = more.pop("name", None)
        if not isinstance(name, str) or not isinstance(arguments, Mapping | None):
            raise ConfigurationError(
                f"call_tool takes a tool's name and its arguments by name, got {name!r} and "
                f"{arguments!r:.60}; for example call_tool('add', a=1) or call_tool('add', "
                "{'a': 1}, timeout_s)"
            )
        flow = self._calling(name, timeout_s, {**(arguments or {}), **more})
        return cast("Pending[Any]", self._operate("call_tool", flow))

    def get_tool(self, name: str) -> Pending[Tool | None]:
        """A tool by its name; `None` if there is none now. Errors as `list_tools`."""
        return cast("Pending[Tool | None]", self._operate("get_tool", self._finding(name)))

    def has_tool(self, name: str) -> Pending[bool]:
        """Whether there is such a tool now. Errors as `list_tools`."""

        def flow() -> Flow[Effect, bool]:
            return (yield from self._finding(name)) is not None

        return cast("Pending[bool]", self._operate("has_tool", flow()))

    def sync(self) -> SyncToolClient[ActT, ObsT, StateT]:
        """The blocking form of this client, precisely typed."""
        return cast("SyncToolClient[ActT, ObsT, StateT]", super().sync())

    def _sync_form(self) -> SyncToolClient[ActT, ObsT, StateT]:
        from openenv.client.sync_tools import SyncToolClient

        return SyncToolClient(self)

    def _calling(self, name: str, timeout_s: float | None, arguments: Json) -> Flow[Effect, Any]:
        action = CallToolAction(tool_name=name, arguments=arguments)
        patience = None if timeout_s is None else timeout_s + BEYOND_S
        called = yield from self._use_tools(
            fields_of(action, frozenset({"metadata"})), patience, _called, timeout_s
        )
        return result_of(called)

    def _finding(self, name: str) -> Flow[Effect, Tool | None]:
        """What is not among the tools that are known may have come since."""
        for use_cache in (True, False):
            known = self._tools is not None
            for each in (yield from self._listing(use_cache)):
                if each.name == name:
                    return each
            if not known:
                break
        return None


def result_of(called: CallToolObservation) -> Any:
    """The plain value that a call gave.

    Raises:
        ToolCallFailed: it gave none.
    """
    if called.error is not None:
        raise ToolCallFailed(called.tool_name, called.error.message, called.error.error_type)
    value, error = plain_result(called.result)
    if error is not None:
        raise ToolCallFailed(called.tool_name, error, ToolErrorType.EXECUTION_ERROR)
    return value


def _called(payload: Json) -> CallToolObservation:
    observation = tool_observation(payload)
    if not isinstance(observation, CallToolObservation):
        raise ProtocolError(f"the server answered with no result of a tool: {str(payload)[:200]}")
    return observation
