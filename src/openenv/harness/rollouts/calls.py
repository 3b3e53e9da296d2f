"""Calls of a session's tools, as a model makes them: whatever goes wrong, the model is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openenv.env.tool_models import RESERVED_TOOL_NAMES
from openenv.harness.rollouts.results import (
    HarnessRolloutResult,
    RolloutEvent,
    ToolResult,
    ToolTraceEntry,
)
from openenv.harness.rollouts.rollout_errors import ReservedTool
from openenv.protocol.errors import (
    ENDING_CODES,
    ConcurrentCall,
    ConfigurationError,
    ConnectFailed,
    EnvironmentFailed,
    InvalidRequest,
    Json,
    ModeError,
    OpenEnvError,
    ProtocolError,
    ReplyTimeout,
    SessionError,
)
from openenv.rollout.policies.acting import as_text, to_text

if TYPE_CHECKING:
    from openenv.harness.rollouts.sessions import ResourceSession

_ENDS = (ConcurrentCall, ConnectFailed, ModeError, ProtocolError, ReplyTimeout, SessionError)


def call(session: ResourceSession, name: str, arguments: Any) -> ToolResult:
    """Calls a tool of a session.

    Raises:
        ReservedTool: it would control the episode.
        KeyError: the session has no such tool.
        ConfigurationError: the arguments are no JSON object.
        ProtocolError: the session gave something that is no result.
    """
    if name in RESERVED_TOOL_NAMES:
        raise ReservedTool(f"{name} controls the episode, which is not the agent's to do")
    if not isinstance(arguments, dict):
        raise ConfigurationError(
            f"arguments must be a JSON object, got a {type(arguments).__name__}"
        )
    result = session.call_tool(name, arguments)
    if not isinstance(result, ToolResult):
        raise ProtocolError(
            f"call_tool() of {type(session).__name__} must return a ToolResult, got a "
            f"{type(result).__name__}"
        )
    return result


def told(session: ResourceSession, name: str, arguments: Any) -> ToolResult:
    """Calls a tool; where the call is at fault, or the tool, the model is told so.

    Raises:
        OpenEnvError: the session is gone, and no further call can succeed.
    """
    try:
        return call(session, name, arguments)
    except Exception as error:  # a tool may raise anything
        if is_over(error):
            raise
        return ToolResult(error=in_words(error))


def is_over(error: Exception) -> bool:
    """Whether no further call can succeed after an error of a call."""
    if isinstance(error, InvalidRequest):
        return False
    if isinstance(error, EnvironmentFailed):
        return error.code in ENDING_CODES
    return isinstance(error, _ENDS)


def in_words(error: Exception) -> str:
    """An error, for a model to read: ours say what is wrong, of others the kind says as much."""
    return str(error) if isinstance(error, OpenEnvError) else f"{type(error).__name__}: {error}"


def text_of(result: ToolResult) -> str:
    """What the model reads of a result."""
    if result.error is not None:
        return to_text({"error": result.error})
    return as_text(result.data)


def record(rollout: HarnessRolloutResult, name: str, arguments: Json, result: ToolResult) -> None:
    """Adds a call to the trace and the events of a rollout."""
    rollout.tool_trace.append(ToolTraceEntry(name, arguments, result))
    payload = {"tool_name": name, "arguments": arguments, "done": result.done}
    rollout.events.append(RolloutEvent("tool_call", payload))
