"""Harnesses: agents that run inside an environment, and those that a trainer drives."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.env.tool_models import RESERVED_TOOL_NAMES
    from openenv.harness.adapter import AgenticHarnessAdapter
    from openenv.harness.bridge import HarnessMCPBridge, build_bridge_server
    from openenv.harness.cli_adapter import CLIHarnessAdapter
    from openenv.harness.config import HarnessConfig, HarnessTransport
    from openenv.harness.environment import HarnessAction, HarnessEnvironment
    from openenv.harness.errors import (
        HarnessError,
        HarnessNotRunningError,
        HarnessStartupError,
        HarnessTurnTimeoutError,
    )
    from openenv.harness.events import (
        HarnessClientMessage,
        HarnessEvent,
        HarnessEventType,
        HarnessResponse,
        events_to_metadata,
    )
    from openenv.harness.process import HarnessProcess
    from openenv.harness.results import (
        HarnessRolloutResult,
        HarnessRunLimits,
        Message,
        ModelStep,
        ModelStepResult,
        RolloutEvent,
        ToolResult,
        ToolTraceEntry,
        VerifyResult,
    )
    from openenv.harness.rollout_func import build_harness_rollout_func
    from openenv.harness.session_bridge import SessionMCPBridge
    from openenv.harness.sessions import (
        LoopOwningSession,
        ResourceSession,
        ResourceSessionFactory,
        TraceEntry,
        TrainableSession,
    )
    from openenv.harness.step_session import StepEnvSessionAdapter
    from openenv.harness.tools import resolve_tool_conflicts
    from openenv.harness.training import TrainingTrace, TrainingTurn
    from openenv.harness.white_box import HarnessAdapter, MCPHarnessAdapter

__all__ = [
    "AgenticHarnessAdapter",
    "CLIHarnessAdapter",
    "HarnessAction",
    "HarnessAdapter",
    "HarnessClientMessage",
    "HarnessConfig",
    "HarnessEnvironment",
    "HarnessError",
    "HarnessEvent",
    "HarnessEventType",
    "HarnessMCPBridge",
    "HarnessNotRunningError",
    "HarnessProcess",
    "HarnessResponse",
    "HarnessRolloutResult",
    "HarnessRunLimits",
    "HarnessStartupError",
    "HarnessTransport",
    "HarnessTurnTimeoutError",
    "LoopOwningSession",
    "MCPHarnessAdapter",
    "Message",
    "ModelStep",
    "ModelStepResult",
    "RESERVED_TOOL_NAMES",
    "ResourceSession",
    "ResourceSessionFactory",
    "RolloutEvent",
    "SessionMCPBridge",
    "StepEnvSessionAdapter",
    "ToolResult",
    "ToolTraceEntry",
    "TraceEntry",
    "TrainableSession",
    "TrainingTrace",
    "TrainingTurn",
    "VerifyResult",
    "build_bridge_server",
    "build_harness_rollout_func",
    "events_to_metadata",
    "resolve_tool_conflicts",
]

__getattr__ = lazy(
    __name__,
    {
        "AgenticHarnessAdapter": "openenv.harness.adapter",
        "CLIHarnessAdapter": "openenv.harness.cli_adapter",
        "HarnessAction": "openenv.harness.environment",
        "HarnessAdapter": "openenv.harness.white_box",
        "HarnessClientMessage": "openenv.harness.events",
        "HarnessConfig": "openenv.harness.config",
        "HarnessEnvironment": "openenv.harness.environment",
        "HarnessError": "openenv.harness.errors",
        "HarnessEvent": "openenv.harness.events",
        "HarnessEventType": "openenv.harness.events",
        "HarnessMCPBridge": "openenv.harness.bridge",
        "HarnessNotRunningError": "openenv.harness.errors",
        "HarnessProcess": "openenv.harness.process",
        "HarnessResponse": "openenv.harness.events",
        "HarnessRolloutResult": "openenv.harness.results",
        "HarnessRunLimits": "openenv.harness.results",
        "HarnessStartupError": "openenv.harness.errors",
        "HarnessTransport": "openenv.harness.config",
        "HarnessTurnTimeoutError": "openenv.harness.errors",
        "LoopOwningSession": "openenv.harness.sessions",
        "MCPHarnessAdapter": "openenv.harness.white_box",
        "Message": "openenv.harness.results",
        "ModelStep": "openenv.harness.results",
        "ModelStepResult": "openenv.harness.results",
        "RESERVED_TOOL_NAMES": "openenv.env.tool_models",
        "ResourceSession": "openenv.harness.sessions",
        "ResourceSessionFactory": "openenv.harness.sessions",
        "RolloutEvent": "openenv.harness.results",
        "SessionMCPBridge": "openenv.harness.session_bridge",
        "StepEnvSessionAdapter": "openenv.harness.step_session",
        "ToolResult": "openenv.harness.results",
        "ToolTraceEntry": "openenv.harness.results",
        "TraceEntry": "openenv.harness.sessions",
        "TrainableSession": "openenv.harness.sessions",
        "TrainingTrace": "openenv.harness.training",
        "TrainingTurn": "openenv.harness.training",
        "VerifyResult": "openenv.harness.results",
        "_resolve_env_reward": "openenv.harness.rewards:resolve_env_reward",
        "build_bridge_server": "openenv.harness.bridge",
        "build_harness_rollout_func": "openenv.harness.rollout_func",
        "events_to_metadata": "openenv.harness.events",
        "resolve_tool_conflicts": "openenv.harness.tools",
    },
)
