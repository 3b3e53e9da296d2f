"""Models of actions, observations, states and the wire."""

from openenv.env.metadata import EnvironmentMetadata
from openenv.env.models import Action, Observation, State
from openenv.env.shapes import CodeExecResult, Scalar
from openenv.protocol.errors import WSErrorCode
from openenv.protocol.wire import (
    BaseMessage,
    HealthResponse,
    HealthStatus,
    ResetRequest,
    ResetResponse,
    SchemaResponse,
    ServerMode,
    StepRequest,
    StepResponse,
    WSCloseMessage,
    WSErrorResponse,
    WSIncomingMessage,
    WSObservationResponse,
    WSResetMessage,
    WSStateMessage,
    WSStateResponse,
    WSStepMessage,
)
from openenv.runtime.capacity import ConcurrencyConfig, ServerCapacityStatus, SessionInfo

__all__ = [
    "Action",
    "BaseMessage",
    "CodeExecResult",
    "ConcurrencyConfig",
    "EnvironmentMetadata",
    "HealthResponse",
    "HealthStatus",
    "Observation",
    "ResetRequest",
    "ResetResponse",
    "Scalar",
    "SchemaResponse",
    "ServerCapacityStatus",
    "ServerMode",
    "SessionInfo",
    "State",
    "StepRequest",
    "StepResponse",
    "WSCloseMessage",
    "WSErrorCode",
    "WSErrorResponse",
    "WSIncomingMessage",
    "WSObservationResponse",
    "WSResetMessage",
    "WSStateMessage",
    "WSStateResponse",
    "WSStepMessage",
]
