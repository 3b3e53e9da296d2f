"""The ready adapter of a configuration."""

from __future__ import annotations

from openenv.harness.agents.adapter import AgenticHarnessAdapter
from openenv.harness.agents.config import HarnessConfig, HarnessTransport
from openenv.harness.agents.over_http import HTTPHarnessAdapter
from openenv.harness.agents.over_mcp import MCPServerHarnessAdapter
from openenv.harness.agents.stdio import StdioHarnessAdapter


def adapter_for(config: HarnessConfig) -> AgenticHarnessAdapter:
    """The ready adapter for a configuration's `transport`; `ACPHarnessAdapter` is made by name."""
    if config.transport is HarnessTransport.HTTP:
        return HTTPHarnessAdapter(config)
    if config.transport is HarnessTransport.MCP:
        return MCPServerHarnessAdapter(config)
    return StdioHarnessAdapter(config)
