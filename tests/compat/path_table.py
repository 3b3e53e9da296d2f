"""Every path and name that existing packages and trainers import, in one table.

A row says where the name lives, or why it is not there yet. A name that lands must change its row.
"""

from typing import NamedTuple

GIT = "no environment of this repository works on git repositories yet"
TASKS = "the task API is not built yet"
PACKAGES = "this environment package is not written yet"


class Row(NamedTuple):
    """One name at one path.

    Attributes:
        path: where it is imported from.
        name: what is imported.
        home: the module that defines it.
        pending: why there is none.
    """

    path: str
    name: str
    home: str | None
    pending: str | None


def _at(path: str, home: str, names: str) -> list[Row]:
    return [Row(path, name, home, None) for name in names.split()]


def _pending(path: str, why: str, names: str) -> list[Row]:
    return [Row(path, name, None, why) for name in names.split()]


def _containers(path: str) -> list[Row]:
    return _at(
        path,
        "openenv.rubrics.containers",
        "Sequential Gate WeightedSum RubricList RubricDict",
    )


def _trajectories(path: str) -> list[Row]:
    return _at(
        path,
        "openenv.rubrics.trajectory",
        "TrajectoryRubric ExponentialDiscountingTrajectoryRubric",
    )


def _rubrics(path: str) -> list[Row]:
    return [
        *_at(path, "openenv.rubrics.base", "Rubric"),
        *_containers(path),
        *_trajectories(path),
    ]


def _env_server(path: str) -> list[Row]:
    """What `core.env_server` offers, and `core` with it."""
    return [
        *_at(path, "openenv.env.models", "Action Observation State"),
        *_at(path, "openenv.env.environment", "Environment"),
        *_at(path, "openenv.env.transforms", "Transform CompositeTransform NullTransform"),
        *_at(path, "openenv.env.shapes", "Message ModelTokenizer TaskProvider"),
        *_at(path, "openenv.env.serialization", "deserialize_action serialize_observation"),
        *_at(path, "openenv.env.serialization", "deserialize_action_with_preprocessing"),
        *_at(path, "openenv.protocol.wire", "SchemaResponse HealthResponse HealthStatus"),
        *_at(path, "openenv.protocol.wire", "ServerMode BaseMessage WSIncomingMessage"),
        *_at(path, "openenv.protocol.wire", "WSResetMessage WSStepMessage WSStateMessage"),
        *_at(path, "openenv.protocol.wire", "WSCloseMessage WSObservationResponse"),
        *_at(path, "openenv.protocol.wire", "WSStateResponse WSErrorResponse"),
        *_at(path, "openenv.protocol.errors", "WSErrorCode OpenEnvError SessionCapacityError"),
        *_at(path, "openenv.protocol.errors", "ConcurrencyConfigurationError"),
        *_at(path, "openenv.protocol.errors", "SessionNotFoundError SessionCreationError"),
        *_at(path, "openenv.protocol.errors", "EnvironmentFactoryError"),
        *_at(path, "openenv.runtime.capacity", "ConcurrencyConfig ServerCapacityStatus"),
        *_at(path, "openenv.runtime.capacity", "SessionInfo"),
        *_at(path, "openenv.server.http_server", "HTTPEnvServer"),
        *_at(path, "openenv.server.app", "create_app create_fastapi_app create_web_interface_app"),
        *_pending(path, TASKS, "ListTasksRequest NumTasksRequest GetTaskRequest"),
        *_pending(path, TASKS, "GetTaskRangeRequest"),
        *_at(path, "openenv.server.web.manager", "WebInterfaceManager"),
        *_at(path, "openenv.server.route_config", "GetEndpointConfig"),
        *_at(path, "openenv.env.tool_models", "Tool ToolError ToolErrorType ListToolsAction"),
        *_at(path, "openenv.env.tool_models", "CallToolAction ListToolsObservation"),
        *_at(path, "openenv.env.tool_models", "CallToolObservation RESERVED_TOOL_NAMES"),
        *_at(path, "openenv.protocol.jsonrpc", "JsonRpcErrorCode JsonRpcError JsonRpcRequest"),
        *_at(path, "openenv.protocol.jsonrpc", "JsonRpcResponse McpMethod WSMCPMessage"),
        *_at(path, "openenv.protocol.jsonrpc", "WSMCPResponse"),
        *_at(path, "openenv.env.mcp_environment", "MCPEnvironment"),
    ]


def _providers(path: str) -> list[Row]:
    return [
        *_at(path, "openenv.providers.peer", "ContainerProvider RuntimeProvider"),
        *_at(path, "openenv.providers.docker", "LocalDockerProvider"),
        *_at(path, "openenv.providers.swarm", "DockerSwarmProvider"),
        *_at(path, "openenv.providers.kubernetes", "KubernetesProvider"),
    ]


_TYPES = "openenv.core.env_server.types"
_INTERFACES = "openenv.core.env_server.interfaces"
_WEB = "openenv.core.env_server.web_interface"
_HARNESS = "openenv.core.harness"
_ROLLOUT = "openenv.core.harness.rollout"
_COLLECT = "openenv.core.harness.collect"

TABLE: list[Row] = [
    # ── openenv
    *_at("openenv", "openenv._version", "__version__"),
    *_at("openenv", "openenv.client.generic", "GenericEnvClient GenericAction"),
    *_at("openenv", "openenv.client.sync_client", "SyncEnvClient"),
    *_at("openenv", "openenv.catalog.auto", "AutoEnv AutoAction"),
    # ── openenv.core
    *_env_server("openenv.core"),
    *_at("openenv.core", "openenv.client.env_client", "EnvClient"),
    *_at("openenv.core", "openenv.client.sync_client", "SyncEnvClient"),
    *_at("openenv.core", "openenv.client.generic", "GenericEnvClient GenericAction"),
    *_at("openenv.core", "openenv.client.mcp_client", "MCPClientBase"),
    *_at("openenv.core", "openenv.client.tools", "MCPToolClient"),
    *_at("openenv.core", "openenv.llm.anthropic", "AnthropicClient"),
    *_at("openenv.core", "openenv.llm.openai", "OpenAIClient"),
    *_at("openenv.core", "openenv.llm.base", "LLMClient"),
    *_at("openenv.core", "openenv.llm.responses", "LLMResponse ToolCall"),
    *_at("openenv.core", "openenv.llm.create", "create_llm_client"),
    # ── openenv.core.env_server and its modules
    *_env_server("openenv.core.env_server"),
    *_at(_TYPES, "openenv.env.models", "Action Observation State"),
    *_at(_TYPES, "openenv.env.metadata", "EnvironmentMetadata"),
    *_at(_TYPES, "openenv.env.shapes", "Scalar CodeExecResult"),
    *_at(_TYPES, "openenv.protocol.errors", "WSErrorCode"),
    *_at(_TYPES, "openenv.protocol.wire", "ServerMode HealthStatus ResetRequest ResetResponse"),
    *_at(_TYPES, "openenv.protocol.wire", "StepRequest StepResponse BaseMessage SchemaResponse"),
    *_at(_TYPES, "openenv.protocol.wire", "HealthResponse WSResetMessage WSStepMessage"),
    *_at(_TYPES, "openenv.protocol.wire", "WSStateMessage WSCloseMessage WSIncomingMessage"),
    *_at(_TYPES, "openenv.protocol.wire", "WSObservationResponse WSStateResponse WSErrorResponse"),
    *_at(_TYPES, "openenv.runtime.capacity", "ConcurrencyConfig ServerCapacityStatus SessionInfo"),
    *_pending(_TYPES, TASKS, "ListTasksRequest NumTasksRequest GetTaskRequest"),
    *_pending(_TYPES, TASKS, "GetTaskRangeRequest"),
    *_at(_INTERFACES, "openenv.env.models", "Action Observation State"),
    *_at(_INTERFACES, "openenv.env.metadata", "EnvironmentMetadata"),
    *_at(_INTERFACES, "openenv.env.environment", "Environment ActT ObsT StateT"),
    *_at(_INTERFACES, "openenv.env.transforms", "Transform"),
    *_at(_INTERFACES, "openenv.env.shapes", "Message ModelTokenizer TaskProvider"),
    *_at(
        "openenv.core.env_server.exceptions",
        "openenv.protocol.errors",
        "OpenEnvError ConcurrencyConfigurationError SessionCapacityError SessionNotFoundError "
        "SessionCreationError EnvironmentFactoryError",
    ),
    *_at(
        "openenv.core.env_server.base_transforms",
        "openenv.env.transforms",
        "CompositeTransform NullTransform",
    ),
    *_at(
        "openenv.core.env_server.route_config",
        "openenv.server.route_config",
        "GetEndpointConfig register_get_endpoints",
    ),
    *_at(
        "openenv.core.env_server.serialization",
        "openenv.env.serialization",
        "deserialize_action deserialize_action_with_preprocessing serialize_observation",
    ),
    *_at("openenv.core.env_server.http_server", "openenv.server.http_server", "HTTPEnvServer"),
    *_at(
        "openenv.core.env_server.http_server",
        "openenv.server.app",
        "create_app create_fastapi_app",
    ),
    *_at(
        "openenv.core.env_server.mcp_types",
        "openenv.env.tool_models",
        "Tool ToolError ToolErrorType ListToolsAction CallToolAction ListToolsObservation "
        "CallToolObservation RESERVED_TOOL_NAMES",
    ),
    *_at(
        "openenv.core.env_server.mcp_types",
        "openenv.protocol.jsonrpc",
        "JsonRpcErrorCode McpMethod JsonRpcError JsonRpcRequest JsonRpcResponse WSMCPMessage "
        "WSMCPResponse",
    ),
    *_at(
        "openenv.core.env_server.mcp_environment",
        "openenv.env.mcp_environment",
        "MCPEnvironment MCP_TOOL_CALL_TIMEOUT VALID_MODES get_server_tools",
    ),
    *_at(_WEB, "openenv.server.app", "create_web_interface_app"),
    *_at(_WEB, "openenv.server.readme", "load_environment_metadata"),
    *_at(_WEB, "openenv.env.metadata", "EnvironmentMetadata"),
    *_at(_WEB, "openenv.server.web.manager", "WebInterfaceManager"),
    *_at(_WEB, "openenv.server.web.quick_start", "get_quick_start_markdown"),
    *_at(_WEB, "openenv.server.web.shared_episode", "ActionLog EpisodeState"),
    *_at(
        "openenv.core.env_server.gradio_ui",
        "openenv.server.web.gradio_page",
        "build_gradio_app get_gradio_display_title",
    ),
    *_at(
        "openenv.core.env_server.gradio_theme",
        "openenv.server.web.gradio_theme",
        "OPENENV_GRADIO_THEME OPENENV_GRADIO_CSS",
    ),
    # ── clients
    *_at("openenv.core.client_types", "openenv.client.results", "StepResult"),
    *_at("openenv.core.client_types", "openenv.client.codec", "ObsT StateT"),
    *_at("openenv.core.env_client", "openenv.client.env_client", "EnvClient"),
    *_at("openenv.core.env_client", "openenv.client.results", "StepResult"),
    *_at("openenv.core.sync_client", "openenv.client.sync_client", "SyncEnvClient"),
    *_at("openenv.core.generic_client", "openenv.client.generic", "GenericEnvClient GenericAction"),
    *_at("openenv.core.mcp_client", "openenv.client.mcp_client", "MCPClientBase"),
    *_at("openenv.core.mcp_client", "openenv.client.tool_results", "GenericMCPObservation"),
    *_at("openenv.core.mcp_client", "openenv.client.tools", "MCPToolClient"),
    *_at("openenv.core.utils", "openenv.client.endpoint", "convert_to_ws_url"),
    *_at("openenv.core.utils", "openenv.client.running", "run_async_safely"),
    *_at("openenv.core.utils", "openenv.client.spaces", "hf_space_subdomain"),
    # ── what trainers import besides
    *_at("openenv.auto", "openenv.catalog.auto", "AutoEnv AutoAction"),
    *_at("openenv.auto._discovery", "openenv.catalog.installed", "EnvironmentInfo"),
    *_at("openenv.auto._discovery", "openenv.catalog.discovery", "EnvironmentDiscovery"),
    *_at("openenv.auto._discovery", "openenv.catalog.discovery", "get_discovery reset_discovery"),
    *_providers("openenv.core.containers.runtime"),
    *_at("openenv.core.containers.runtime", "openenv.providers.uv", "UVProvider"),
    *_providers("openenv.core.containers.runtime.providers"),
    *_at("openenv.core.containers.runtime.uv_provider", "openenv.providers.uv", "UVProvider"),
    *_at(
        "openenv.core.containers.runtime.uv_provider", "openenv.providers.peer", "RuntimeProvider"
    ),
    *_rubrics("openenv.core.rubrics"),
    *_at("openenv.core.rubrics.base", "openenv.rubrics.base", "Rubric"),
    *_containers("openenv.core.rubrics.containers"),
    *_trajectories("openenv.core.rubrics.trajectory"),
    *_at("openenv.core.rubrics", "openenv.rubrics.judge", "LLMJudge"),
    *_at("openenv.core.rubrics.llm_judge", "openenv.rubrics.judge", "LLMJudge"),
    *_at("openenv.core.evals", "openenv.evals.harness", "EvalHarness"),
    *_at("openenv.core.evals", "openenv.evals.models", "EvalConfig EvalResult"),
    *_at("openenv.core.evals", "openenv.evals.inspect_harness", "InspectAIHarness"),
    *_at("openenv.core.evals.base", "openenv.evals.harness", "EvalHarness"),
    *_at("openenv.core.evals.types", "openenv.evals.models", "EvalConfig EvalResult"),
    *_at("openenv.core.evals.inspect_harness", "openenv.evals.inspect_harness", "InspectAIHarness"),
    *_at("openenv.core.tools", "openenv.executor.py_executor", "PyExecutor"),
    *_pending("openenv.core.tools", GIT, "GitServerClient"),
    *_at("openenv.core.llm_client", "openenv.llm.responses", "LLMResponse ToolCall"),
    *_at("openenv.core.llm_client", "openenv.llm.base", "LLMClient"),
    *_at("openenv.core.llm_client", "openenv.llm.openai", "OpenAIClient"),
    *_at("openenv.core.llm_client", "openenv.llm.anthropic", "AnthropicClient"),
    *_at("openenv.core.llm_client", "openenv.llm.create", "create_llm_client"),
    # ── harnesses
    *_at(_HARNESS, "openenv.harness.agents.adapter", "AgenticHarnessAdapter"),
    *_at(_HARNESS, "openenv.harness.agents.bridge", "HarnessMCPBridge build_bridge_server"),
    *_at(_HARNESS, "openenv.harness.agents.environment", "HarnessAction HarnessEnvironment"),
    *_at(_HARNESS, "openenv.harness.agents.events", "HarnessClientMessage HarnessEvent"),
    *_at(_HARNESS, "openenv.harness.agents.events", "HarnessEventType HarnessResponse"),
    *_at(_HARNESS, "openenv.harness.agents.events", "events_to_metadata"),
    *_at(_HARNESS, "openenv.harness.agents.config", "HarnessConfig HarnessTransport"),
    *_at(_HARNESS, "openenv.harness.agents.errors", "HarnessError HarnessNotRunningError"),
    *_at(_HARNESS, "openenv.harness.agents.errors", "HarnessStartupError HarnessTurnTimeoutError"),
    *_at(_HARNESS, "openenv.harness.agents.process", "HarnessProcess"),
    *_at(_HARNESS, "openenv.harness.agents.conflicts", "resolve_tool_conflicts"),
    *_at(
        _HARNESS,
        "openenv.harness.rollouts.results",
        "HarnessRolloutResult HarnessRunLimits Message",
    ),
    *_at(_HARNESS, "openenv.harness.rollouts.results", "ModelStep ModelStepResult RolloutEvent"),
    *_at(_HARNESS, "openenv.harness.rollouts.results", "ToolResult ToolTraceEntry VerifyResult"),
    *_at(_HARNESS, "openenv.harness.rollouts.sessions", "LoopOwningSession ResourceSession"),
    *_at(_HARNESS, "openenv.harness.rollouts.sessions", "ResourceSessionFactory TraceEntry"),
    *_at(_HARNESS, "openenv.harness.rollouts.sessions", "TrainableSession"),
    *_at(_HARNESS, "openenv.harness.rollouts.training", "TrainingTrace TrainingTurn"),
    *_at(_HARNESS, "openenv.harness.rollouts.white_box", "HarnessAdapter MCPHarnessAdapter"),
    *_at(_HARNESS, "openenv.harness.rollouts.cli_adapter", "CLIHarnessAdapter"),
    *_at(_HARNESS, "openenv.harness.rollouts.session_bridge", "SessionMCPBridge"),
    *_at(_HARNESS, "openenv.harness.rollouts.step_session", "StepEnvSessionAdapter"),
    *_at(_HARNESS, "openenv.harness.rollouts.rollout_func", "build_harness_rollout_func"),
    *_at(_HARNESS, "openenv.env.tool_models", "RESERVED_TOOL_NAMES"),
    *_at(
        _ROLLOUT,
        "openenv.harness.rollouts.results",
        "HarnessRolloutResult HarnessRunLimits Message",
    ),
    *_at(_ROLLOUT, "openenv.harness.rollouts.results", "ModelStep ModelStepResult RolloutEvent"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.results", "ToolResult ToolTraceEntry VerifyResult"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.sessions", "LoopOwningSession ResourceSession"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.sessions", "ResourceSessionFactory TraceEntry"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.sessions", "TrainableSession"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.white_box", "HarnessAdapter MCPHarnessAdapter"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.cli_adapter", "CLIHarnessAdapter"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.session_bridge", "SessionMCPBridge"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.step_session", "StepEnvSessionAdapter"),
    *_at(_ROLLOUT, "openenv.harness.rollouts.rollout_func", "build_harness_rollout_func"),
    *_at(_ROLLOUT, "openenv.env.tool_models", "RESERVED_TOOL_NAMES"),
    *_at(_COLLECT, "openenv.harness.collecting.collect", "CollectRunner"),
    *_at(
        _COLLECT,
        "openenv.harness.collecting.records",
        "CollectResult EpisodeRecord RolloutSerializer",
    ),
    *_at(_COLLECT, "openenv.harness.collecting.records", "RESULTS_FILENAME METADATA_FILENAME"),
    *_at(_COLLECT, "openenv.harness.rollouts.model_step", "build_model_step"),
    *_at(_COLLECT, "openenv.harness.collecting.dataset", "build_dataset_readme push_to_hf_hub"),
    *_at(_COLLECT, "openenv.harness.collecting.dataset", "README_FILENAME"),
    *_at(f"{_HARNESS}.capture.upstream", "openenv.harness.capture.upstream", "training_sampling"),
    # ── environment packages
    *_at("echo_env", "echo_env.models", "EchoAction EchoObservation"),
    *_at("echo_env", "echo_env.client", "EchoEnv"),
    *_at("openspiel_env", "openspiel_env.models", "OpenSpielAction OpenSpielObservation"),
    *_at("openspiel_env", "openspiel_env.client", "OpenSpielEnv"),
    *_at("textarena_env", "textarena_env.models", "TextArenaAction"),
    *_at("coding_env", "coding_env.models", "CodeAction"),
    *_at("coding_env", "coding_env.client", "CodingEnv"),
    *_at("atari_env", "atari_env.models", "AtariAction"),
    *_pending("sumo_rl_env", PACKAGES, "SumoAction"),
    *_at("finrl_env", "finrl_env.models", "FinRLAction"),
    *_pending("browsergym_env", PACKAGES, "BrowserGymEnv"),
    *_pending("carla_env", PACKAGES, "CarlaEnv"),
    *_at("reasoning_gym_env", "reasoning_gym_env.client", "ReasoningGymEnv"),
]
