"""Harnesses: agents that run inside an environment, and those that a trainer drives."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.env.tool_models import RESERVED_TOOL_NAMES
    from openenv.harness.agents.adapter import AgenticHarnessAdapter
    from openenv.harness.agents.bridge import HarnessMCPBridge, build_bridge_server
    from openenv.harness.agents.config import HarnessConfig, HarnessTransport
    from openenv.harness.agents.conflicts import resolve_tool_conflicts
    from openenv.harness.agents.environment import HarnessAction, HarnessEnvironment
    from openenv.harness.agents.errors import (
        HarnessError,
        HarnessNotRunningError,
        HarnessStartupError,
        HarnessTurnTimeoutError,
    )
    from openenv.harness.agents.events import (
        HarnessClientMessage,
        HarnessEvent,
        HarnessEventType,
        HarnessResponse,
        events_to_metadata,
    )
    from openenv.harness.agents.process import HarnessProcess
    from openenv.harness.rollouts.cli_adapter import CLIHarnessAdapter
    from openenv.harness.rollouts.results import (
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
    from openenv.harness.rollouts.rollout_func import build_harness_rollout_func
    from openenv.harness.rollouts.session_bridge import SessionMCPBridge
    from openenv.harness.rollouts.sessions import (
        LoopOwningSession,
        ResourceSession,
        ResourceSessionFactory,
        TraceEntry,
        TrainableSession,
    )
    from openenv.harness.rollouts.step_session import StepEnvSessionAdapter
    from openenv.harness.rollouts.training import TrainingTrace, TrainingTurn
    from openenv.harness.rollouts.white_box import HarnessAdapter, MCPHarnessAdapter

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
        "AgenticHarnessAdapter": "openenv.harness.agents.adapter",
        "CLIHarnessAdapter": "openenv.harness.rollouts.cli_adapter",
        "HarnessAction": "openenv.harness.agents.environment",
        "HarnessAdapter": "openenv.harness.rollouts.white_box",
        "HarnessClientMessage": "openenv.harness.agents.events",
        "HarnessConfig": "openenv.harness.agents.config",
        "HarnessEnvironment": "openenv.harness.agents.environment",
        "HarnessError": "openenv.harness.agents.errors",
        "HarnessEvent": "openenv.harness.agents.events",
        "HarnessEventType": "openenv.harness.agents.events",
        "HarnessMCPBridge": "openenv.harness.agents.bridge",
        "HarnessNotRunningError": "openenv.harness.agents.errors",
        "HarnessProcess": "openenv.harness.agents.process",
        "HarnessResponse": "openenv.harness.agents.events",
        "HarnessRolloutResult": "openenv.harness.rollouts.results",
        "HarnessRunLimits": "openenv.harness.rollouts.results",
        "HarnessStartupError": "openenv.harness.agents.errors",
        "HarnessTransport": "openenv.harness.agents.config",
        "HarnessTurnTimeoutError": "openenv.harness.agents.errors",
        "LoopOwningSession": "openenv.harness.rollouts.sessions",
        "MCPHarnessAdapter": "openenv.harness.rollouts.white_box",
        "Message": "openenv.harness.rollouts.results",
        "ModelStep": "openenv.harness.rollouts.results",
        "ModelStepResult": "openenv.harness.rollouts.results",
        "RESERVED_TOOL_NAMES": "openenv.env.tool_models",
        "ResourceSession": "openenv.harness.rollouts.sessions",
        "ResourceSessionFactory": "openenv.harness.rollouts.sessions",
        "RolloutEvent": "openenv.harness.rollouts.results",
        "SessionMCPBridge": "openenv.harness.rollouts.session_bridge",
        "StepEnvSessionAdapter": "openenv.harness.rollouts.step_session",
        "ToolResult": "openenv.harness.rollouts.results",
        "ToolTraceEntry": "openenv.harness.rollouts.results",
        "TraceEntry": "openenv.harness.rollouts.sessions",
        "TrainableSession": "openenv.harness.rollouts.sessions",
        "TrainingTrace": "openenv.harness.rollouts.training",
        "TrainingTurn": "openenv.harness.rollouts.training",
        "VerifyResult": "openenv.harness.rollouts.results",
        "_resolve_env_reward": "openenv.harness.rollouts.rewards:resolve_env_reward",
        "build_bridge_server": "openenv.harness.agents.bridge",
        "build_harness_rollout_func": "openenv.harness.rollouts.rollout_func",
        "events_to_metadata": "openenv.harness.agents.events",
        "resolve_tool_conflicts": "openenv.harness.agents.conflicts",
    },
)
