"""Agents: those that run inside an environment, and those that a trainer drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.harness.adapter import AgenticHarnessAdapter as AgenticHarnessAdapter
    from openenv.harness.config import HarnessConfig as HarnessConfig
    from openenv.harness.config import HarnessTransport as HarnessTransport
    from openenv.harness.errors import HarnessError as HarnessError
    from openenv.harness.errors import HarnessNotRunningError as HarnessNotRunningError
    from openenv.harness.errors import HarnessStartupError as HarnessStartupError
    from openenv.harness.errors import HarnessTurnTimeoutError as HarnessTurnTimeoutError
    from openenv.harness.events import HarnessClientMessage as HarnessClientMessage
    from openenv.harness.events import HarnessEvent as HarnessEvent
    from openenv.harness.events import HarnessEventType as HarnessEventType
    from openenv.harness.events import HarnessResponse as HarnessResponse
    from openenv.harness.events import events_to_metadata as events_to_metadata
    from openenv.harness.process import HarnessProcess as HarnessProcess
    from openenv.harness.tools import resolve_tool_conflicts as resolve_tool_conflicts

_HOMES = {
    "AgenticHarnessAdapter": "openenv.harness.adapter",
    "HarnessClientMessage": "openenv.harness.events",
    "HarnessConfig": "openenv.harness.config",
    "HarnessError": "openenv.harness.errors",
    "HarnessEvent": "openenv.harness.events",
    "HarnessEventType": "openenv.harness.events",
    "HarnessNotRunningError": "openenv.harness.errors",
    "HarnessProcess": "openenv.harness.process",
    "HarnessResponse": "openenv.harness.events",
    "HarnessStartupError": "openenv.harness.errors",
    "HarnessTransport": "openenv.harness.config",
    "HarnessTurnTimeoutError": "openenv.harness.errors",
    "events_to_metadata": "openenv.harness.events",
    "resolve_tool_conflicts": "openenv.harness.tools",
}

__all__ = list(_HOMES)
__getattr__ = lazy(__name__, _HOMES)
