"""An agent that is an MCP server on its stdin and stdout, by the official SDK's server."""

import os
import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("agent")


@server.tool()
async def chat(message: str, ctx: Context) -> str:
    """Talks."""
    await ctx.report_progress(1, 2, "thinking")
    if message == "fail":
        raise ToolError("no model today")
    if message == "die":
        sys.stderr.write("out of luck\n")
        sys.stderr.flush()
        os._exit(5)
    return f"echo:{message}"


server.run()
