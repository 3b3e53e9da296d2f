"""Agents: those that run inside an environment, and those that a trainer drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.harness.agents.acp import ACPHarnessAdapter as ACPHarnessAdapter
    from openenv.harness.agents.adapter import AgenticHarnessAdapter as AgenticHarnessAdapter
    from openenv.harness.agents.bridge import HarnessMCPBridge as HarnessMCPBridge
    from openenv.harness.agents.bridge import build_bridge_server as build_bridge_server
    from openenv.harness.agents.choice import adapter_for as adapter_for
    from openenv.harness.agents.config import HarnessConfig as HarnessConfig
    from openenv.harness.agents.config import HarnessTransport as HarnessTransport
    from openenv.harness.agents.conflicts import resolve_tool_conflicts as resolve_tool_conflicts
    from openenv.harness.agents.environment import HarnessAction as HarnessAction
    from openenv.harness.agents.environment import HarnessEnvironment as HarnessEnvironment
    from openenv.harness.agents.errors import HarnessError as HarnessError
    from openenv.harness.agents.errors import HarnessNotRunningError as HarnessNotRunningError
    from openenv.harness.agents.errors import HarnessStartupError as HarnessStartupError
    from openenv.harness.agents.errors import HarnessTurnTimeoutError as HarnessTurnTimeoutError
    from openenv.harness.agents.events import HarnessClientMessage as HarnessClientMessage
    from openenv.harness.agents.events import HarnessEvent as HarnessEvent
    from openenv.harness.agents.events import HarnessEventType as HarnessEventType
    from openenv.harness.agents.events import HarnessResponse as HarnessResponse
    from openenv.harness.agents.events import events_to_metadata as events_to_metadata
    from openenv.harness.agents.launched import LaunchedAdapter as LaunchedAdapter
    from openenv.harness.agents.over_http import HTTPHarnessAdapter as HTTPHarnessAdapter
    from openenv.harness.agents.over_mcp import MCPServerHarnessAdapter as MCPServerHarnessAdapter
    from openenv.harness.agents.process import HarnessProcess as HarnessProcess
    from openenv.harness.agents.stdio import StdioHarnessAdapter as StdioHarnessAdapter
    from openenv.harness.capture.upstream import training_sampling as training_sampling
    from openenv.harness.collecting.collect import CollectRunner as CollectRunner
    from openenv.harness.collecting.dataset import build_dataset_readme as build_dataset_readme
    from openenv.harness.collecting.dataset import push_to_hf_hub as push_to_hf_hub
    from openenv.harness.collecting.records import CollectResult as CollectResult
    from openenv.harness.collecting.records import EpisodeRecord as EpisodeRecord
    from openenv.harness.collecting.records import RolloutSerializer as RolloutSerializer
    from openenv.harness.rollouts.cli_adapter import CLIHarnessAdapter as CLIHarnessAdapter
    from openenv.harness.rollouts.model_step import BlockingModelStep as BlockingModelStep
    from openenv.harness.rollouts.model_step import build_model_step as build_model_step
    from openenv.harness.rollouts.results import HarnessRolloutResult as HarnessRolloutResult
    from openenv.harness.rollouts.results import HarnessRunLimits as HarnessRunLimits
    from openenv.harness.rollouts.results import Message as Message
    from openenv.harness.rollouts.results import ModelStep as ModelStep
    from openenv.harness.rollouts.results import ModelStepResult as ModelStepResult
    from openenv.harness.rollouts.results import RolloutEvent as RolloutEvent
    from openenv.harness.rollouts.results import ToolResult as ToolResult
    from openenv.harness.rollouts.results import ToolTraceEntry as ToolTraceEntry
    from openenv.harness.rollouts.results import VerifyResult as VerifyResult
    from openenv.harness.rollouts.rollout_errors import RewardError as RewardError
    from openenv.harness.rollouts.rollout_errors import RewardInvalid as RewardInvalid
    from openenv.harness.rollouts.rollout_errors import RewardMissing as RewardMissing
    from openenv.harness.rollouts.rollout_errors import RolloutFailed as RolloutFailed
    from openenv.harness.rollouts.rollout_errors import ToolNotFound as ToolNotFound
    from openenv.harness.rollouts.rollout_func import (
        build_harness_rollout_func as build_harness_rollout_func,
    )
    from openenv.harness.rollouts.served import ServedSessions as ServedSessions
    from openenv.harness.rollouts.session_bridge import SessionMCPBridge as SessionMCPBridge
    from openenv.harness.rollouts.sessions import LoopOwningSession as LoopOwningSession
    from openenv.harness.rollouts.sessions import ResourceSession as ResourceSession
    from openenv.harness.rollouts.sessions import ResourceSessionFactory as ResourceSessionFactory
    from openenv.harness.rollouts.sessions import TraceEntry as TraceEntry
    from openenv.harness.rollouts.sessions import TrainableSession as TrainableSession
    from openenv.harness.rollouts.step_session import StepEnvSessionAdapter as StepEnvSessionAdapter
    from openenv.harness.rollouts.tool_session import ToolSessionAdapter as ToolSessionAdapter
    from openenv.harness.rollouts.training import TrainingTrace as TrainingTrace
    from openenv.harness.rollouts.training import TrainingTurn as TrainingTurn
    from openenv.harness.rollouts.white_box import HarnessAdapter as HarnessAdapter
    from openenv.harness.rollouts.white_box import MCPHarnessAdapter as MCPHarnessAdapter
    from openenv.rollout.trajectories.folder_lock import FolderBusy as FolderBusy

_HOMES = {
    "ACPHarnessAdapter": "openenv.harness.agents.acp",
    "AgenticHarnessAdapter": "openenv.harness.agents.adapter",
    "BlockingModelStep": "openenv.harness.rollouts.model_step",
    "CLIHarnessAdapter": "openenv.harness.rollouts.cli_adapter",
    "CollectResult": "openenv.harness.collecting.records",
    "CollectRunner": "openenv.harness.collecting.collect",
    "EpisodeRecord": "openenv.harness.collecting.records",
    "HTTPHarnessAdapter": "openenv.harness.agents.over_http",
    "FolderBusy": "openenv.rollout.trajectories.folder_lock",
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
    "LaunchedAdapter": "openenv.harness.agents.launched",
    "LoopOwningSession": "openenv.harness.rollouts.sessions",
    "MCPHarnessAdapter": "openenv.harness.rollouts.white_box",
    "MCPServerHarnessAdapter": "openenv.harness.agents.over_mcp",
    "Message": "openenv.harness.rollouts.results",
    "ModelStep": "openenv.harness.rollouts.results",
    "ModelStepResult": "openenv.harness.rollouts.results",
    "ResourceSession": "openenv.harness.rollouts.sessions",
    "ResourceSessionFactory": "openenv.harness.rollouts.sessions",
    "RewardError": "openenv.harness.rollouts.rollout_errors",
    "RewardInvalid": "openenv.harness.rollouts.rollout_errors",
    "RewardMissing": "openenv.harness.rollouts.rollout_errors",
    "RolloutEvent": "openenv.harness.rollouts.results",
    "RolloutFailed": "openenv.harness.rollouts.rollout_errors",
    "RolloutSerializer": "openenv.harness.collecting.records",
    "ServedSessions": "openenv.harness.rollouts.served",
    "SessionMCPBridge": "openenv.harness.rollouts.session_bridge",
    "StdioHarnessAdapter": "openenv.harness.agents.stdio",
    "StepEnvSessionAdapter": "openenv.harness.rollouts.step_session",
    "ToolNotFound": "openenv.harness.rollouts.rollout_errors",
    "ToolResult": "openenv.harness.rollouts.results",
    "ToolSessionAdapter": "openenv.harness.rollouts.tool_session",
    "ToolTraceEntry": "openenv.harness.rollouts.results",
    "TraceEntry": "openenv.harness.rollouts.sessions",
    "TrainableSession": "openenv.harness.rollouts.sessions",
    "TrainingTrace": "openenv.harness.rollouts.training",
    "TrainingTurn": "openenv.harness.rollouts.training",
    "VerifyResult": "openenv.harness.rollouts.results",
    "adapter_for": "openenv.harness.agents.choice",
    "build_bridge_server": "openenv.harness.agents.bridge",
    "build_dataset_readme": "openenv.harness.collecting.dataset",
    "build_harness_rollout_func": "openenv.harness.rollouts.rollout_func",
    "build_model_step": "openenv.harness.rollouts.model_step",
    "events_to_metadata": "openenv.harness.agents.events",
    "push_to_hf_hub": "openenv.harness.collecting.dataset",
    "resolve_tool_conflicts": "openenv.harness.agents.conflicts",
    "training_sampling": "openenv.harness.capture.upstream",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
