"""The `mcp` frames of `/ws`: OpenEnv's own convention, inside a v1 conversation."""

from __future__ import annotations

from openenv.protocol.errors import Json
from openenv.protocol.jsonrpc import RpcRefusal, read_request
from openenv.protocol.messages import Reply
from openenv.protocol.values import encode
from openenv.runtime.seat import Seat
from openenv.server.mcp.methods import Asked, OpenEnvMethods, respond


async def answer(methods: OpenEnvMethods, seat: Seat, data: Json) -> Reply:
    """The reply to an `mcp` frame.

    Args:
        methods: the server's.
        seat: the session of the socket.
        data: the JSON-RPC request.
    """
    try:
        request = read_request(data)
    except RpcRefusal as refusal:
        told = refusal.response()
    else:
        told = await respond(methods.table, request, Asked(request.params, seat, on_socket=True))
    return Reply("mcp", encode(told))
