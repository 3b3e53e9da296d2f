"""The ready adapter of a configuration."""

from __future__ import annotations

from openenv.harness.adapter import AgenticHarnessAdapter
from openenv.harness.config import HarnessConfig, HarnessTransport
from openenv.harness.over_http import HTTPHarnessAdapter
from openenv.harness.over_mcp import MCPServerHarnessAdapter
from openenv.harness.stdio import StdioHarnessAdapter


def adapter_for(config: HarnessConfig) -> AgenticHarnessAdapter:
    """The ready adapter for a configuration's `transport`; `ACPHarnessAdapter` is made by name."""
    if config.transport is HarnessTransport.HTTP:
        return HTTPHarnessAdapter(config)
    if config.transport is HarnessTransport.MCP:
        return MCPServerHarnessAdapter(config)
    return StdioHarnessAdapter(config)
