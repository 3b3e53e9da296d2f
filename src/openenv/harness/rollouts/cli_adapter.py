"""Black-box rollouts: an agent plays that calls its model itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from openenv.harness.rollouts.results import HarnessRolloutResult, HarnessRunLimits, ModelStep
from openenv.harness.rollouts.rollout_errors import RolloutFailed
from openenv.harness.rollouts.session_bridge import SessionMCPBridge
from openenv.harness.rollouts.white_box import HarnessAdapter
from openenv.protocol.errors import ProtocolError

if TYPE_CHECKING:
    from openenv.harness.rollouts.sessions import ResourceSession

Runner: TypeAlias = (
    "Callable[[SessionMCPBridge, ResourceSession, HarnessRunLimits], HarnessRolloutResult]"
)
"""Runs an agent on a session's tools until it ends, and says how it went."""


class CLIHarnessAdapter(HarnessAdapter):
    """Has an agent play a session, by a function that runs the agent.

    The bridge keeps the trace of the agent's calls: it becomes the rollout's where the runner
    names none, and it is what a `RolloutFailed` has if the runner raises.

    Args:
        runner: runs the agent. It gives the agent the bridge's tools, and ends it on every path.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def run_white_box(
        self,
        model_step: ModelStep,
        session: ResourceSession,
        limits: HarnessRunLimits | None = None,
    ) -> HarnessRolloutResult:
        """There is none."""
        raise NotImplementedError(
            "CLIHarnessAdapter runs an agent that calls its model itself: use run_black_box, or "
            "MCPHarnessAdapter to take the model's turns"
        )

    def run_black_box(
        self, session: ResourceSession, limits: HarnessRunLimits | None = None
    ) -> HarnessRolloutResult:
        """See `HarnessAdapter`."""
        limits = limits or HarnessRunLimits()
        bridge = SessionMCPBridge(session, limits)
        try:
            rollout = self._runner(bridge, session, limits)
            if not isinstance(rollout, HarnessRolloutResult):
                raise ProtocolError(
                    "the runner of an agent must return a HarnessRolloutResult, got a "
                    f"{type(rollout).__name__}"
                )
        except Exception as error:
            raise RolloutFailed(
                f"the agent failed after {len(bridge.rollout.tool_trace)} calls of tools: "
                f"{type(error).__name__}: {error}",
                bridge.rollout,
            ) from error
        return _with_trace(rollout, bridge.rollout)


def _with_trace(rollout: HarnessRolloutResult, seen: HarnessRolloutResult) -> HarnessRolloutResult:
    """A rollout with what the bridge saw, where the runner says nothing of it."""
    if not rollout.tool_trace:
        rollout.tool_trace, rollout.events = seen.tool_trace, [*rollout.events, *seen.events]
    rollout.done = rollout.done or seen.done
    rollout.metrics = {"tool_calls": len(rollout.tool_trace), **seen.metrics, **rollout.metrics}
    return rollout
