"""What an agent does in a turn, as it is told and kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class HarnessEventType(str, Enum):
    """The kinds of events."""

    LLM_REQUEST = "llm_request"
    LLM_RESPONSE = "llm_response"
    LLM_CHUNK = "llm_chunk"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TEXT_OUTPUT = "text_output"
    ERROR = "error"
    TURN_COMPLETE = "turn_complete"


class HarnessEvent(BaseModel):
    """One thing that happened in a turn.

    Attributes:
        type: its kind.
        timestamp: when, in seconds since 1970.
        data: what there is to say of it. `turn_complete` has `response` and `done`; what the
            environment itself saw of a call of its tools has `origin="environment"`.
    """

    model_config = ConfigDict(extra="forbid")

    type: HarnessEventType
    timestamp: float = Field(default_factory=time.time)
    data: dict[str, Any] = Field(default_factory=dict)


class HarnessResponse(BaseModel):
    """What a turn came to.

    Attributes:
        response: the agent's answer.
        events: what it did.
        done: it will do nothing more in this episode.
    """

    response: str
    events: list[HarnessEvent] = Field(default_factory=list)
    done: bool = False


class HarnessClientMessage(BaseModel):
    """What a client of `/harness` sends: one message, which is one turn."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["message"] = "message"
    content: str


def events_to_metadata(events: Sequence[HarnessEvent]) -> list[dict[str, Any]]:
    """The events of a turn as plain JSON values, for an observation's metadata."""
    return [event.model_dump(mode="json") for event in events]
