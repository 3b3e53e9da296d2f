"""What requests about tools mean to an environment: the calls into it, and the observations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pydantic import ValidationError

from openenv.env.models import is_observation, pack, validate
from openenv.env.spec import AnyEnvironment, Traits
from openenv.env.tool_models import (
    RESERVED_TOOL_NAMES,
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    ToolError,
    ToolErrorType,
)
from openenv.env.toolbox import Offload, Toolbox
from openenv.env.tools import ToolContext
from openenv.protocol.errors import EnvironmentFailed, Json, NoTools
from openenv.protocol.messages import Emit, Reply, Request, error_reply
from openenv.protocol.values import encode
from openenv.protocol.wire import ServerMode
from openenv.runtime.faults import Call, contained, invalid, is_awaitable

_NEVER_RAN = frozenset({ToolErrorType.TOOL_NOT_FOUND, ToolErrorType.INVALID_ARGS})


class Tooling:
    """The tools of one session.

    Args:
        environment: whose they are.
        traits: what its class says of itself.
        step: takes the calls, where the environment answers them itself.
        mode: for whom the server is.

    Attributes:
        offload: makes blocking calls where they keep nobody else waiting.
    """

    def __init__(
        self,
        environment: AnyEnvironment,
        traits: Traits,
        step: Callable[..., Any],
        mode: ServerMode,
    ) -> None:
        self.offload: Offload | None = None
        self._environment = environment
        self._traits = traits
        self._step = step
        self._mode = mode

    def listing(self) -> Call:
        """The call that lists the tools.

        Raises:
            NoTools: there are none, and never will be.
        """
        self._require_tools()
        if self._traits.steps_tool_calls:
            return partial(self._step, ListToolsAction())
        return self._list

    def calling(self, request: Request) -> Call:
        """The call of one tool.

        Raises:
            NoTools: there are none, and never will be.
            InvalidRequest: it names no tool.
        """
        self._require_tools()
        try:
            action = validate(CallToolAction, request.data)
        except ValidationError as error:
            raise invalid(error, "tool call") from None
        if self._traits.steps_tool_calls and action.tool_name not in RESERVED_TOOL_NAMES:
            return partial(self._step, action)
        context = ToolContext(_emitting(request.emit))
        box = self._toolbox()
        call = partial(box.call_tool, action.tool_name, action.arguments, context)
        return partial(_guarded, box, action.tool_name, call)

    def _require_tools(self) -> None:
        if not self._traits.has_tools:
            name = type(self._environment).__name__
            raise NoTools(f"Environment does not support MCP: {name} has no tools")

    def _list(self) -> ListToolsObservation | Awaitable[ListToolsObservation]:
        listed = self._toolbox().list_tools()
        if isinstance(listed, list):
            return ListToolsObservation(tools=listed)
        return _listed_later(listed)

    def _toolbox(self) -> Toolbox:
        return Toolbox(self._environment, self._mode.value, self.offload)


async def _listed_later(pending: Awaitable[Any]) -> ListToolsObservation:
    return ListToolsObservation(tools=await pending)


def _guarded(box: Toolbox, name: str, call: Call) -> object:
    """A call of a tool; what it raises that is no `Exception` is the agent's to be told, too."""
    try:
        value = contained(call)
    except EnvironmentFailed as error:
        return box.failed(name, error)
    return _guarded_later(box, name, value) if is_awaitable(value) else value


async def _guarded_later(box: Toolbox, name: str, pending: Awaitable[object]) -> object:
    try:
        return await pending
    except EnvironmentFailed as error:
        return box.failed(name, error)


def _emitting(emit: Emit | None) -> Callable[[Json], None] | None:
    """What tells the caller of a running call something, as an object."""
    return None if emit is None else lambda told: emit(encode(told))


def called_off(request: Request, kind: ToolErrorType, message: str) -> Reply:
    """The reply to a call that is given up."""
    if request.op == "view":
        return error_reply(EnvironmentFailed(message))
    name = request.data.get("tool_name")
    told = CallToolObservation(
        tool_name=name if isinstance(name, str) else "",
        error=ToolError(error_type=kind, message=message),
    )
    return Reply("observation", pack(told, request.binary), binary=request.binary)


def has_run(observation: object) -> bool:
    """Whether the call that an observation is of came as far as the tool."""
    if not isinstance(observation, CallToolObservation) or observation.error is None:
        return is_observation(observation)
    return observation.error.error_type not in _NEVER_RAN
