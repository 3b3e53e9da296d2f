"""Rollouts: sessions, and what plays them."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.env.tool_models import RESERVED_TOOL_NAMES
    from openenv.harness.cli_adapter import CLIHarnessAdapter
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
    from openenv.harness.white_box import HarnessAdapter, MCPHarnessAdapter

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
        "CLIHarnessAdapter": "openenv.harness.cli_adapter",
        "HarnessAdapter": "openenv.harness.white_box",
        "HarnessRolloutResult": "openenv.harness.results",
        "HarnessRunLimits": "openenv.harness.results",
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
        "VerifyResult": "openenv.harness.results",
        "_resolve_env_reward": "openenv.harness.rewards:resolve_env_reward",
        "build_harness_rollout_func": "openenv.harness.rollout_func",
    },
)
