"""Rollouts: sessions, and what plays them."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.env.tool_models import RESERVED_TOOL_NAMES
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
    from openenv.harness.rollouts.white_box import HarnessAdapter, MCPHarnessAdapter

__all__ = [
    "CLIHarnessAdapter",
    "HarnessAdapter",
    "HarnessRolloutResult",
    "HarnessRunLimits",
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
    "VerifyResult",
    "build_harness_rollout_func",
]

__getattr__ = lazy(
    __name__,
    {
        "CLIHarnessAdapter": "openenv.harness.rollouts.cli_adapter",
        "HarnessAdapter": "openenv.harness.rollouts.white_box",
        "HarnessRolloutResult": "openenv.harness.rollouts.results",
        "HarnessRunLimits": "openenv.harness.rollouts.results",
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
        "VerifyResult": "openenv.harness.rollouts.results",
        "_resolve_env_reward": "openenv.harness.rollouts.rewards:resolve_env_reward",
        "build_harness_rollout_func": "openenv.harness.rollouts.rollout_func",
    },
)
