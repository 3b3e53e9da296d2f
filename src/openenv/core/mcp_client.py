"""The clients of tools."""

from openenv.client.mcp_client import GenericMCPObservation, MCPClientBase
from openenv.client.tools import MCPToolClient

__all__ = [
    "GenericMCPObservation",
    "MCPClientBase",
    "MCPToolClient",
]
