"""The names of existing packages and clients, each imported when it is used."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.client.env_client import (
        EnvClient,
    )
    from openenv.client.generic import (
        GenericAction,
        GenericEnvClient,
    )
    from openenv.client.mcp_client import (
        MCPClientBase,
    )
    from openenv.client.results import (
        StepResult,
    )
    from openenv.client.sync_client import (
        SyncEnvClient,
    )
    from openenv.client.tools import (
        MCPToolClient,
    )
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
    from openenv.llm.anthropic import (
        AnthropicClient,
    )
    from openenv.llm.base import (
        LLMClient,
    )
    from openenv.llm.create import (
        create_llm_client,
    )
    from openenv.llm.openai import (
        OpenAIClient,
    )
    from openenv.llm.responses import (
        LLMResponse,
        ToolCall,
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
    "AnthropicClient",
    "BaseMessage",
    "CallToolAction",
    "CallToolObservation",
    "CompositeTransform",
    "ConcurrencyConfig",
    "ConcurrencyConfigurationError",
    "EnvClient",
    "Environment",
    "EnvironmentFactoryError",
    "GenericAction",
    "GenericEnvClient",
    "GetEndpointConfig",
    "HTTPEnvServer",
    "HealthResponse",
    "HealthStatus",
    "JsonRpcError",
    "JsonRpcErrorCode",
    "JsonRpcRequest",
    "JsonRpcResponse",
    "LLMClient",
    "LLMResponse",
    "ListToolsAction",
    "ListToolsObservation",
    "MCPClientBase",
    "MCPEnvironment",
    "MCPToolClient",
    "McpMethod",
    "Message",
    "ModelTokenizer",
    "NullTransform",
    "Observation",
    "OpenAIClient",
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
    "StepResult",
    "SyncEnvClient",
    "TaskProvider",
    "Tool",
    "ToolCall",
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
    "create_llm_client",
    "create_web_interface_app",
    "deserialize_action",
    "deserialize_action_with_preprocessing",
    "serialize_observation",
]

__getattr__ = lazy(
    __name__,
    {
        "Action": "openenv.env.models",
        "AnthropicClient": "openenv.llm.anthropic",
        "BaseMessage": "openenv.protocol.wire",
        "CallToolAction": "openenv.env.tool_models",
        "CallToolObservation": "openenv.env.tool_models",
        "CompositeTransform": "openenv.env.transforms",
        "ConcurrencyConfig": "openenv.runtime.capacity",
        "ConcurrencyConfigurationError": "openenv.protocol.errors",
        "EnvClient": "openenv.client.env_client",
        "Environment": "openenv.env.environment",
        "EnvironmentFactoryError": "openenv.protocol.errors",
        "GenericAction": "openenv.client.generic",
        "GenericEnvClient": "openenv.client.generic",
        "GetEndpointConfig": "openenv.server.route_config",
        "HTTPEnvServer": "openenv.server.http_server",
        "HealthResponse": "openenv.protocol.wire",
        "HealthStatus": "openenv.protocol.wire",
        "JsonRpcError": "openenv.protocol.jsonrpc",
        "JsonRpcErrorCode": "openenv.protocol.jsonrpc",
        "JsonRpcRequest": "openenv.protocol.jsonrpc",
        "JsonRpcResponse": "openenv.protocol.jsonrpc",
        "LLMClient": "openenv.llm.base",
        "LLMResponse": "openenv.llm.responses",
        "ListToolsAction": "openenv.env.tool_models",
        "ListToolsObservation": "openenv.env.tool_models",
        "MCPClientBase": "openenv.client.mcp_client",
        "MCPEnvironment": "openenv.env.mcp_environment",
        "MCPToolClient": "openenv.client.tools",
        "McpMethod": "openenv.protocol.jsonrpc",
        "Message": "openenv.env.shapes",
        "ModelTokenizer": "openenv.env.shapes",
        "NullTransform": "openenv.env.transforms",
        "Observation": "openenv.env.models",
        "OpenAIClient": "openenv.llm.openai",
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
        "StepResult": "openenv.client.results",
        "SyncEnvClient": "openenv.client.sync_client",
        "TaskProvider": "openenv.env.shapes",
        "Tool": "openenv.env.tool_models",
        "ToolCall": "openenv.llm.responses",
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
        "create_llm_client": "openenv.llm.create",
        "create_web_interface_app": "openenv.server.app",
        "deserialize_action": "openenv.env.serialization",
        "deserialize_action_with_preprocessing": "openenv.env.serialization",
        "serialize_observation": "openenv.env.serialization",
    },
)
