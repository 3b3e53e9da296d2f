"""Agents: those that run inside an environment, and those that a trainer drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.harness.acp import ACPHarnessAdapter as ACPHarnessAdapter
    from openenv.harness.adapter import AgenticHarnessAdapter as AgenticHarnessAdapter
    from openenv.harness.bridge import HarnessMCPBridge as HarnessMCPBridge
    from openenv.harness.bridge import build_bridge_server as build_bridge_server
    from openenv.harness.capture.upstream import training_sampling as training_sampling
    from openenv.harness.choice import adapter_for as adapter_for
    from openenv.harness.cli_adapter import CLIHarnessAdapter as CLIHarnessAdapter
    from openenv.harness.collect import CollectRunner as CollectRunner
    from openenv.harness.config import HarnessConfig as HarnessConfig
    from openenv.harness.config import HarnessTransport as HarnessTransport
    from openenv.harness.dataset import build_dataset_readme as build_dataset_readme
    from openenv.harness.dataset import push_to_hf_hub as push_to_hf_hub
    from openenv.harness.environment import HarnessAction as HarnessAction
    from openenv.harness.environment import HarnessEnvironment as HarnessEnvironment
    from openenv.harness.errors import HarnessError as HarnessError
    from openenv.harness.errors import HarnessNotRunningError as HarnessNotRunningError
    from openenv.harness.errors import HarnessStartupError as HarnessStartupError
    from openenv.harness.errors import HarnessTurnTimeoutError as HarnessTurnTimeoutError
    from openenv.harness.events import HarnessClientMessage as HarnessClientMessage
    from openenv.harness.events import HarnessEvent as HarnessEvent
    from openenv.harness.events import HarnessEventType as HarnessEventType
    from openenv.harness.events import HarnessResponse as HarnessResponse
    from openenv.harness.events import events_to_metadata as events_to_metadata
    from openenv.harness.folder_lock import FolderBusy as FolderBusy
    from openenv.harness.launched import LaunchedAdapter as LaunchedAdapter
    from openenv.harness.model_step import BlockingModelStep as BlockingModelStep
    from openenv.harness.model_step import build_model_step as build_model_step
    from openenv.harness.over_http import HTTPHarnessAdapter as HTTPHarnessAdapter
    from openenv.harness.over_mcp import MCPServerHarnessAdapter as MCPServerHarnessAdapter
    from openenv.harness.process import HarnessProcess as HarnessProcess
    from openenv.harness.records import CollectResult as CollectResult
    from openenv.harness.records import EpisodeRecord as EpisodeRecord
    from openenv.harness.records import RolloutSerializer as RolloutSerializer
    from openenv.harness.results import HarnessRolloutResult as HarnessRolloutResult
    from openenv.harness.results import HarnessRunLimits as HarnessRunLimits
    from openenv.harness.results import Message as Message
    from openenv.harness.results import ModelStep as ModelStep
    from openenv.harness.results import ModelStepResult as ModelStepResult
    from openenv.harness.results import RolloutEvent as RolloutEvent
    from openenv.harness.results import ToolResult as ToolResult
    from openenv.harness.results import ToolTraceEntry as ToolTraceEntry
    from openenv.harness.results import VerifyResult as VerifyResult
    from openenv.harness.rollout_errors import RewardError as RewardError
    from openenv.harness.rollout_errors import RewardInvalid as RewardInvalid
    from openenv.harness.rollout_errors import RewardMissing as RewardMissing
    from openenv.harness.rollout_errors import RolloutFailed as RolloutFailed
    from openenv.harness.rollout_errors import ToolNotFound as ToolNotFound
    from openenv.harness.rollout_func import (
        build_harness_rollout_func as build_harness_rollout_func,
    )
    from openenv.harness.served import ServedSessions as ServedSessions
    from openenv.harness.session_bridge import SessionMCPBridge as SessionMCPBridge
    from openenv.harness.sessions import LoopOwningSession as LoopOwningSession
    from openenv.harness.sessions import ResourceSession as ResourceSession
    from openenv.harness.sessions import ResourceSessionFactory as ResourceSessionFactory
    from openenv.harness.sessions import TraceEntry as TraceEntry
    from openenv.harness.sessions import TrainableSession as TrainableSession
    from openenv.harness.stdio import StdioHarnessAdapter as StdioHarnessAdapter
    from openenv.harness.step_session import StepEnvSessionAdapter as StepEnvSessionAdapter
    from openenv.harness.tool_session import ToolSessionAdapter as ToolSessionAdapter
    from openenv.harness.tools import resolve_tool_conflicts as resolve_tool_conflicts
    from openenv.harness.training import TrainingTrace as TrainingTrace
    from openenv.harness.training import TrainingTurn as TrainingTurn
    from openenv.harness.white_box import HarnessAdapter as HarnessAdapter
    from openenv.harness.white_box import MCPHarnessAdapter as MCPHarnessAdapter

_HOMES = {
    "ACPHarnessAdapter": "openenv.harness.acp",
    "AgenticHarnessAdapter": "openenv.harness.adapter",
    "BlockingModelStep": "openenv.harness.model_step",
    "CLIHarnessAdapter": "openenv.harness.cli_adapter",
    "CollectResult": "openenv.harness.records",
    "CollectRunner": "openenv.harness.collect",
    "EpisodeRecord": "openenv.harness.records",
    "HTTPHarnessAdapter": "openenv.harness.over_http",
    "FolderBusy": "openenv.harness.folder_lock",
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
    "LaunchedAdapter": "openenv.harness.launched",
    "LoopOwningSession": "openenv.harness.sessions",
    "MCPHarnessAdapter": "openenv.harness.white_box",
    "MCPServerHarnessAdapter": "openenv.harness.over_mcp",
    "Message": "openenv.harness.results",
    "ModelStep": "openenv.harness.results",
    "ModelStepResult": "openenv.harness.results",
    "ResourceSession": "openenv.harness.sessions",
    "ResourceSessionFactory": "openenv.harness.sessions",
    "RewardError": "openenv.harness.rollout_errors",
    "RewardInvalid": "openenv.harness.rollout_errors",
    "RewardMissing": "openenv.harness.rollout_errors",
    "RolloutEvent": "openenv.harness.results",
    "RolloutFailed": "openenv.harness.rollout_errors",
    "RolloutSerializer": "openenv.harness.records",
    "ServedSessions": "openenv.harness.served",
    "SessionMCPBridge": "openenv.harness.session_bridge",
    "StdioHarnessAdapter": "openenv.harness.stdio",
    "StepEnvSessionAdapter": "openenv.harness.step_session",
    "ToolNotFound": "openenv.harness.rollout_errors",
    "ToolResult": "openenv.harness.results",
    "ToolSessionAdapter": "openenv.harness.tool_session",
    "ToolTraceEntry": "openenv.harness.results",
    "TraceEntry": "openenv.harness.sessions",
    "TrainableSession": "openenv.harness.sessions",
    "TrainingTrace": "openenv.harness.training",
    "TrainingTurn": "openenv.harness.training",
    "VerifyResult": "openenv.harness.results",
    "adapter_for": "openenv.harness.choice",
    "build_bridge_server": "openenv.harness.bridge",
    "build_dataset_readme": "openenv.harness.dataset",
    "build_harness_rollout_func": "openenv.harness.rollout_func",
    "build_model_step": "openenv.harness.model_step",
    "events_to_metadata": "openenv.harness.events",
    "push_to_hf_hub": "openenv.harness.dataset",
    "resolve_tool_conflicts": "openenv.harness.tools",
    "training_sampling": "openenv.harness.capture.upstream",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
