"""Environments whose tools are those of a FastMCP server."""

from openenv.env.mcp_environment import (
    MCP_TOOL_CALL_TIMEOUT,
    VALID_MODES,
    MCPEnvironment,
    get_server_tools,
)

__all__ = [
    "MCP_TOOL_CALL_TIMEOUT",
    "VALID_MODES",
    "MCPEnvironment",
    "get_server_tools",
]
