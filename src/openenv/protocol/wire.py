"""Every HTTP body and v1 frame as a pydantic model: for documentation, checks and tools.

The hot path reads and writes frames directly (`openenv.protocol.messages`); these models say what
it must mean, and validate what comes over HTTP.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class ServerMode(str, Enum):
    """Whom a server is for: a trainer, who controls episodes, or an agent, who may not."""

    SIMULATION = "simulation"
    PRODUCTION = "production"


class HealthStatus(str, Enum):
    """How a server is."""

    HEALTHY = "healthy"
    UNHEALTHY = "unhealthy"
    DEGRADED = "degraded"


class BaseMessage(BaseModel):
    """What crosses the wire: nothing but its fields."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class ResetRequest(BaseModel):
    """What every reset may carry; other keywords go to the environment as they are."""

    model_config = ConfigDict(extra="allow")

    seed: int | None = Field(default=None, ge=0)
    episode_id: str | None = Field(default=None, max_length=255)


class StepRequest(BaseModel):
    """The body of `POST /step`."""

    model_config = ConfigDict(extra="allow")

    action: dict[str, Any]
    timeout_s: float | None = Field(default=None, gt=0)
    request_id: str | None = Field(default=None, max_length=255)


class StepResponse(BaseMessage):
    """What a reset or a step gives, over HTTP and in an `observation` frame's `data`."""

    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False
    truncated: bool = False
    metadata: dict[str, Any] | None = None


class ResetResponse(StepResponse):
    """What a reset gives."""


class HealthResponse(BaseMessage):
    """The answer of `GET /health`; `isolation` says what keeps sessions from the machine."""

    status: HealthStatus = HealthStatus.HEALTHY
    active_sessions: int = 0
    max_sessions: int = 1
    waiting: int = 0
    isolation: dict[str, Any] = Field(default_factory=dict)


class SchemaResponse(BaseMessage):
    """The answer of `GET /schema`: the JSON schemas of what crosses the wire."""

    action: dict[str, Any]
    observation: dict[str, Any]
    state: dict[str, Any]
    reset_observation: dict[str, Any] | None = None


class WSResetMessage(BaseMessage):
    """Asks for a new episode."""

    type: Literal["reset"] = "reset"
    data: dict[str, Any] = Field(default_factory=dict)


class WSStepMessage(BaseMessage):
    """Asks for a step; `data` is the action itself."""

    type: Literal["step"] = "step"
    data: dict[str, Any]


class WSStateMessage(BaseMessage):
    """Asks where the episode stands."""

    type: Literal["state"] = "state"


class WSCloseMessage(BaseMessage):
    """Ends the session."""

    type: Literal["close"] = "close"


WSIncomingMessage = Annotated[
    WSResetMessage | WSStepMessage | WSStateMessage | WSCloseMessage, Field(discriminator="type")
]
"""Any frame that a client may send."""


class WSObservationResponse(BaseMessage):
    """Answers a reset or a step."""

    type: Literal["observation"] = "observation"
    data: dict[str, Any]


class WSStateResponse(BaseMessage):
    """Answers a question for the state."""

    type: Literal["state"] = "state"
    data: dict[str, Any]


class WSErrorResponse(BaseMessage):
    """Answers whatever failed."""

    type: Literal["error"] = "error"
    data: dict[str, Any]
