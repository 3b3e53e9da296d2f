"""Tools on the wire: what there is, a call of one, and what it gave."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from openenv.env.models import Action, Observation

RESERVED_TOOL_NAMES = frozenset({"reset", "step", "state", "close"})
"""What controls an episode is the trainer's: no tool may be called so."""


class Tool(BaseModel):
    """What an agent is told of a tool.

    Attributes:
        name: what it is called.
        description: what it does, for the agent; may be empty.
        input_schema: the JSON schema of its arguments, an object.
    """

    model_config = ConfigDict(extra="forbid")

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolErrorType(str, Enum):
    """What went wrong with a call."""

    EXECUTION_ERROR = "execution_error"
    INVALID_ARGS = "invalid_args"
    TRANSPORT_ERROR = "transport_error"
    TOOL_NOT_FOUND = "tool_not_found"
    TIMEOUT = "timeout"


class ToolError(BaseModel):
    """Why a call gave no result.

    Attributes:
        error_type: what went wrong.
        message: the same for people and agents.
    """

    model_config = ConfigDict(extra="forbid")

    error_type: ToolErrorType
    message: str


class ListToolsAction(Action):
    """Asks for the tools there are."""

    type: Literal["list_tools"] = "list_tools"


class CallToolAction(Action):
    """Calls a tool.

    Attributes:
        tool_name: which.
        arguments: by name.
    """

    type: Literal["call_tool"] = "call_tool"
    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ListToolsObservation(Observation):
    """The tools there are."""

    tools: list[Tool] = Field(default_factory=list)


class CallToolObservation(Observation):
    """What a call gave: a result, or an error.

    Attributes:
        tool_name: which tool was called.
        result: `content` (MCP's blocks), `structured_content`, `data` (the plain JSON value),
            `meta` and `is_error`; None with an error.
        error: why there is no result.
    """

    tool_name: str
    result: Any = None
    error: ToolError | None = None
