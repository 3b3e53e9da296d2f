"""The clients of tools."""

from openenv.client.mcp_client import MCPClientBase
from openenv.client.tool_results import GenericMCPObservation
from openenv.client.tools import MCPToolClient

__all__ = [
    "GenericMCPObservation",
    "MCPClientBase",
    "MCPToolClient",
]
