"""OpenEnv: isolated execution environments for agentic RL, with a Gymnasium-style API.

Everything here is imported when it is first used, so that a client never loads a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.catalog.auto import AutoAction as AutoAction
    from openenv.catalog.auto import AutoEnv as AutoEnv
    from openenv.client.env_client import EnvClient as EnvClient
    from openenv.client.fetching import is_available as is_available
    from openenv.client.generic import GenericAction as GenericAction
    from openenv.client.generic import GenericEnvClient as GenericEnvClient
    from openenv.client.results import StepResult as StepResult
    from openenv.client.sync_client import SyncEnvClient as SyncEnvClient
    from openenv.client.tools import MCPToolClient as MCPToolClient
    from openenv.client.tools import ToolCallFailed as ToolCallFailed
    from openenv.env.environment import Environment as Environment
    from openenv.env.mcp_environment import MCPEnvironment as MCPEnvironment
    from openenv.env.metadata import EnvironmentMetadata as EnvironmentMetadata
    from openenv.env.models import Action as Action
    from openenv.env.models import Observation as Observation
    from openenv.env.models import State as State
    from openenv.env.ndarray import NDArray as NDArray
    from openenv.env.options import Options as Options
    from openenv.env.seeds import Seeds as Seeds
    from openenv.env.tool_models import CallToolAction as CallToolAction
    from openenv.env.tool_models import CallToolObservation as CallToolObservation
    from openenv.env.tool_models import ListToolsAction as ListToolsAction
    from openenv.env.tool_models import ListToolsObservation as ListToolsObservation
    from openenv.env.tool_models import Tool as Tool
    from openenv.env.tool_models import ToolErrorType as ToolErrorType
    from openenv.env.tools import ToolContext as ToolContext
    from openenv.env.tools import ToolFailure as ToolFailure
    from openenv.env.tools import tool as tool
    from openenv.env.transforms import Transform as Transform
    from openenv.in_process import local as local
    from openenv.protocol import errors as errors
    from openenv.protocol.errors import Backpressure as Backpressure
    from openenv.protocol.errors import (
        ConcurrencyConfigurationError as ConcurrencyConfigurationError,
    )
    from openenv.protocol.errors import ConcurrentCall as ConcurrentCall
    from openenv.protocol.errors import ConfigurationError as ConfigurationError
    from openenv.protocol.errors import ConnectFailed as ConnectFailed
    from openenv.protocol.errors import ControlClosed as ControlClosed
    from openenv.protocol.errors import EnvironmentFactoryError as EnvironmentFactoryError
    from openenv.protocol.errors import EnvironmentFailed as EnvironmentFailed
    from openenv.protocol.errors import HostCrashed as HostCrashed
    from openenv.protocol.errors import InvalidRequest as InvalidRequest
    from openenv.protocol.errors import MessageTooLarge as MessageTooLarge
    from openenv.protocol.errors import ModeError as ModeError
    from openenv.protocol.errors import NotAvailable as NotAvailable
    from openenv.protocol.errors import NoTools as NoTools
    from openenv.protocol.errors import NotReady as NotReady
    from openenv.protocol.errors import OpenEnvError as OpenEnvError
    from openenv.protocol.errors import OutOfTurn as OutOfTurn
    from openenv.protocol.errors import ProtocolError as ProtocolError
    from openenv.protocol.errors import ProviderError as ProviderError
    from openenv.protocol.errors import ReplyTimeout as ReplyTimeout
    from openenv.protocol.errors import ResetRequired as ResetRequired
    from openenv.protocol.errors import SessionCapacityError as SessionCapacityError
    from openenv.protocol.errors import SessionCreationError as SessionCreationError
    from openenv.protocol.errors import SessionError as SessionError
    from openenv.protocol.errors import SessionExpired as SessionExpired
    from openenv.protocol.errors import SessionGone as SessionGone
    from openenv.protocol.errors import SessionLost as SessionLost
    from openenv.protocol.errors import SessionNotFoundError as SessionNotFoundError
    from openenv.protocol.errors import StepTimeout as StepTimeout
    from openenv.protocol.errors import TakenOver as TakenOver
    from openenv.protocol.errors import Unauthorized as Unauthorized
    from openenv.protocol.extras import needs as needs
    from openenv.rollout.pool import EnvPool as EnvPool
    from openenv.runtime.limits import Limits as Limits
    from openenv.server.app import create_app as create_app
    from openenv.server.run import serve as serve

_HOMES = {
    "Action": "openenv.env.models",
    "AutoAction": "openenv.catalog.auto",
    "AutoEnv": "openenv.catalog.auto",
    "Backpressure": "openenv.protocol.errors",
    "CallToolAction": "openenv.env.tool_models",
    "CallToolObservation": "openenv.env.tool_models",
    "ConcurrencyConfigurationError": "openenv.protocol.errors",
    "ConcurrentCall": "openenv.protocol.errors",
    "ConfigurationError": "openenv.protocol.errors",
    "ConnectFailed": "openenv.protocol.errors",
    "ControlClosed": "openenv.protocol.errors",
    "EnvClient": "openenv.client.env_client",
    "EnvPool": "openenv.rollout.pool",
    "Environment": "openenv.env.environment",
    "EnvironmentFactoryError": "openenv.protocol.errors",
    "EnvironmentFailed": "openenv.protocol.errors",
    "EnvironmentMetadata": "openenv.env.metadata",
    "GenericAction": "openenv.client.generic",
    "GenericEnvClient": "openenv.client.generic",
    "HostCrashed": "openenv.protocol.errors",
    "InvalidRequest": "openenv.protocol.errors",
    "Limits": "openenv.runtime.limits",
    "ListToolsAction": "openenv.env.tool_models",
    "ListToolsObservation": "openenv.env.tool_models",
    "MCPEnvironment": "openenv.env.mcp_environment",
    "MCPToolClient": "openenv.client.tools",
    "MessageTooLarge": "openenv.protocol.errors",
    "ModeError": "openenv.protocol.errors",
    "NDArray": "openenv.env.ndarray",
    "NoTools": "openenv.protocol.errors",
    "NotAvailable": "openenv.protocol.errors",
    "NotReady": "openenv.protocol.errors",
    "Observation": "openenv.env.models",
    "OpenEnvError": "openenv.protocol.errors",
    "Options": "openenv.env.options",
    "OutOfTurn": "openenv.protocol.errors",
    "ProtocolError": "openenv.protocol.errors",
    "ProviderError": "openenv.protocol.errors",
    "ReplyTimeout": "openenv.protocol.errors",
    "ResetRequired": "openenv.protocol.errors",
    "Seeds": "openenv.env.seeds",
    "SessionCapacityError": "openenv.protocol.errors",
    "SessionCreationError": "openenv.protocol.errors",
    "SessionError": "openenv.protocol.errors",
    "SessionExpired": "openenv.protocol.errors",
    "SessionGone": "openenv.protocol.errors",
    "SessionLost": "openenv.protocol.errors",
    "SessionNotFoundError": "openenv.protocol.errors",
    "State": "openenv.env.models",
    "StepResult": "openenv.client.results",
    "StepTimeout": "openenv.protocol.errors",
    "SyncEnvClient": "openenv.client.sync_client",
    "TakenOver": "openenv.protocol.errors",
    "Tool": "openenv.env.tool_models",
    "ToolCallFailed": "openenv.client.tools",
    "ToolContext": "openenv.env.tools",
    "ToolErrorType": "openenv.env.tool_models",
    "ToolFailure": "openenv.env.tools",
    "Transform": "openenv.env.transforms",
    "Unauthorized": "openenv.protocol.errors",
    "__version__": "openenv._version",
    "cli": "openenv.cli:",
    "core": "openenv.core:",
    "create_app": "openenv.server.app",
    "errors": "openenv.protocol.errors:",
    "is_available": "openenv.client.fetching",
    "local": "openenv.in_process",
    "needs": "openenv.protocol.extras",
    "serve": "openenv.server.run",
    "tool": "openenv.env.tools",
}

__all__ = [name for name in _HOMES if not name.startswith("_")]
__getattr__ = lazy(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
