"""The names that servers and environments are written with, each imported when it is used."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.env.environment import (
        Environment,
    )
    from openenv.env.mcp_environment import (
        MCPEnvironment,
    )
    from openenv.env.models import (
        Action,
        Observation,
        State,
    )
    from openenv.env.serialization import (
        deserialize_action,
        deserialize_action_with_preprocessing,
        serialize_observation,
    )
    from openenv.env.shapes import (
        Message,
        ModelTokenizer,
        TaskProvider,
    )
    from openenv.env.tool_models import (
        RESERVED_TOOL_NAMES,
        CallToolAction,
        CallToolObservation,
        ListToolsAction,
        ListToolsObservation,
        Tool,
        ToolError,
        ToolErrorType,
    )
    from openenv.env.transforms import (
        CompositeTransform,
        NullTransform,
        Transform,
    )
    from openenv.protocol.errors import (
        ConcurrencyConfigurationError,
        EnvironmentFactoryError,
        OpenEnvError,
        SessionCapacityError,
        SessionCreationError,
        SessionNotFoundError,
        WSErrorCode,
    )
    from openenv.protocol.jsonrpc import (
        JsonRpcError,
        JsonRpcErrorCode,
        JsonRpcRequest,
        JsonRpcResponse,
        McpMethod,
        WSMCPMessage,
        WSMCPResponse,
    )
    from openenv.protocol.wire import (
        BaseMessage,
        HealthResponse,
        HealthStatus,
        SchemaResponse,
        ServerMode,
        WSCloseMessage,
        WSErrorResponse,
        WSIncomingMessage,
        WSObservationResponse,
        WSResetMessage,
        WSStateMessage,
        WSStateResponse,
        WSStepMessage,
    )
    from openenv.runtime.capacity import (
        ConcurrencyConfig,
        ServerCapacityStatus,
        SessionInfo,
    )
    from openenv.server.app import (
        create_app,
        create_fastapi_app,
        create_web_interface_app,
    )
    from openenv.server.http_server import (
        HTTPEnvServer,
    )
    from openenv.server.route_config import (
        GetEndpointConfig,
    )
    from openenv.server.web.manager import (
        WebInterfaceManager,
    )

__all__ = [
    "Action",
    "BaseMessage",
    "CallToolAction",
    "CallToolObservation",
    "CompositeTransform",
    "ConcurrencyConfig",
    "ConcurrencyConfigurationError",
    "Environment",
    "EnvironmentFactoryError",
    "GetEndpointConfig",
    "HTTPEnvServer",
    "HealthResponse",
    "HealthStatus",
    "JsonRpcError",
    "JsonRpcErrorCode",
    "JsonRpcRequest",
    "JsonRpcResponse",
    "ListToolsAction",
    "ListToolsObservation",
    "MCPEnvironment",
    "McpMethod",
    "Message",
    "ModelTokenizer",
    "NullTransform",
    "Observation",
    "OpenEnvError",
    "RESERVED_TOOL_NAMES",
    "SchemaResponse",
    "ServerCapacityStatus",
    "ServerMode",
    "SessionCapacityError",
    "SessionCreationError",
    "SessionInfo",
    "SessionNotFoundError",
    "State",
    "TaskProvider",
    "Tool",
    "ToolError",
    "ToolErrorType",
    "Transform",
    "WSCloseMessage",
    "WSErrorCode",
    "WSErrorResponse",
    "WSIncomingMessage",
    "WSMCPMessage",
    "WSMCPResponse",
    "WSObservationResponse",
    "WSResetMessage",
    "WSStateMessage",
    "WSStateResponse",
    "WSStepMessage",
    "WebInterfaceManager",
    "create_app",
    "create_fastapi_app",
    "create_web_interface_app",
    "deserialize_action",
    "deserialize_action_with_preprocessing",
    "serialize_observation",
]

__getattr__ = lazy(
    __name__,
    {
        "Action": "openenv.env.models",
        "BaseMessage": "openenv.protocol.wire",
        "CallToolAction": "openenv.env.tool_models",
        "CallToolObservation": "openenv.env.tool_models",
        "CompositeTransform": "openenv.env.transforms",
        "ConcurrencyConfig": "openenv.runtime.capacity",
        "ConcurrencyConfigurationError": "openenv.protocol.errors",
        "Environment": "openenv.env.environment",
        "EnvironmentFactoryError": "openenv.protocol.errors",
        "GetEndpointConfig": "openenv.server.route_config",
        "HTTPEnvServer": "openenv.server.http_server",
        "HealthResponse": "openenv.protocol.wire",
        "HealthStatus": "openenv.protocol.wire",
        "JsonRpcError": "openenv.protocol.jsonrpc",
        "JsonRpcErrorCode": "openenv.protocol.jsonrpc",
        "JsonRpcRequest": "openenv.protocol.jsonrpc",
        "JsonRpcResponse": "openenv.protocol.jsonrpc",
        "ListToolsAction": "openenv.env.tool_models",
        "ListToolsObservation": "openenv.env.tool_models",
        "MCPEnvironment": "openenv.env.mcp_environment",
        "McpMethod": "openenv.protocol.jsonrpc",
        "Message": "openenv.env.shapes",
        "ModelTokenizer": "openenv.env.shapes",
        "NullTransform": "openenv.env.transforms",
        "Observation": "openenv.env.models",
        "OpenEnvError": "openenv.protocol.errors",
        "RESERVED_TOOL_NAMES": "openenv.env.tool_models",
        "SchemaResponse": "openenv.protocol.wire",
        "ServerCapacityStatus": "openenv.runtime.capacity",
        "ServerMode": "openenv.protocol.wire",
        "SessionCapacityError": "openenv.protocol.errors",
        "SessionCreationError": "openenv.protocol.errors",
        "SessionInfo": "openenv.runtime.capacity",
        "SessionNotFoundError": "openenv.protocol.errors",
        "State": "openenv.env.models",
        "TaskProvider": "openenv.env.shapes",
        "Tool": "openenv.env.tool_models",
        "ToolError": "openenv.env.tool_models",
        "ToolErrorType": "openenv.env.tool_models",
        "Transform": "openenv.env.transforms",
        "WSCloseMessage": "openenv.protocol.wire",
        "WSErrorCode": "openenv.protocol.errors",
        "WSErrorResponse": "openenv.protocol.wire",
        "WSIncomingMessage": "openenv.protocol.wire",
        "WSMCPMessage": "openenv.protocol.jsonrpc",
        "WSMCPResponse": "openenv.protocol.jsonrpc",
        "WSObservationResponse": "openenv.protocol.wire",
        "WSResetMessage": "openenv.protocol.wire",
        "WSStateMessage": "openenv.protocol.wire",
        "WSStateResponse": "openenv.protocol.wire",
        "WSStepMessage": "openenv.protocol.wire",
        "WebInterfaceManager": "openenv.server.web.manager",
        "create_app": "openenv.server.app",
        "create_fastapi_app": "openenv.server.app",
        "create_web_interface_app": "openenv.server.app",
        "deserialize_action": "openenv.env.serialization",
        "deserialize_action_with_preprocessing": "openenv.env.serialization",
        "serialize_observation": "openenv.env.serialization",
    },
)
