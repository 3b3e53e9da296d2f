"""Tools for agents: `/mcp` over HTTP and WebSocket, and the `mcp` frames of `/ws`.

Two conventions share the address. OpenEnv's own is JSON-RPC with `openenv/session/create` and
`params.session_id`; the Model Context Protocol's is Streamable HTTP with `initialize` and the
header `Mcp-Session-Id`. Both list the same tools and make the same calls.
"""
