"""The methods of tools, and the table of OpenEnv's own convention."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from openenv.env.incidents import incident
from openenv.protocol.errors import Json, SessionError, SessionNotFoundError
from openenv.protocol.jsonrpc import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    JsonRpcResponse,
    McpMethod,
    RpcRefusal,
)
from openenv.protocol.messages import Emit, Request
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.mcp.asking import ask, begun, visit
from openenv.server.mcp.shapes import OPENENV, Shape, listed, refused, rewarded

NO_TOOLS = "Environment does not support MCP: it has no tools"


@dataclass(frozen=True)
class Asked:
    """One request on its way to an answer.

    Attributes:
        params: the request's.
        seat: the session that the road holds; `None` if it holds none.
        on_socket: the session ends with the socket that holds it.
        emit: takes what the running call tells of its progress, as JSON.
    """

    params: Json
    seat: Seat | None = None
    on_socket: bool = False
    emit: Emit | None = None


Method = Callable[[Asked], Awaitable[Json]]
Table = Mapping[str, Method]


async def respond(table: Table, request: JsonRpcRequest, asked: Asked) -> Json:
    """The response to a request, whatever comes of it: whoever asked waits for one."""
    try:
        return JsonRpcResponse.success(await result(table, request, asked), request.id).model_dump()
    except RpcRefusal as refusal:
        told = refusal
    except Exception as error:  # noqa: BLE001  # logged, and told as an incident
        number, text = incident(error, f"answering {request.method[:80]}", ours=True)
        told = RpcRefusal(JsonRpcErrorCode.INTERNAL_ERROR, text, {"incident": number})
    told.request_id = request.id
    return told.response()


async def result(table: Table, request: JsonRpcRequest, asked: Asked) -> Json:
    """The result of a request.

    Raises:
        RpcRefusal: there is none.
    """
    method = table.get(request.method)
    if method is None:
        raise RpcRefusal(
            JsonRpcErrorCode.METHOD_NOT_FOUND,
            f"Method not found: {request.method[:80]} (known: {', '.join(table)})",
        )
    try:
        return await method(asked)
    except SessionError as error:
        raise refused(error) from error


class ToolMethods:
    """`tools/list` and `tools/call`. Without a session, one is made for the call.

    Args:
        sessions: the server's.
        shape: how what came of a call is written.
    """

    def __init__(self, sessions: Sessions, shape: Shape) -> None:
        self._sessions = sessions
        self._shape = shape

    async def list(self, asked: Asked) -> Json:
        """The tools, in their order; all of them, so a `cursor` leads nowhere."""
        self._require_tools()
        if asked.seat is None:
            async with visit(self._sessions, reset=False) as seat:
                return await self.list(replace(asked, seat=seat))
        told = await ask(asked.seat, Request("list_tools"))
        return {"tools": listed(told)}

    async def call(self, asked: Asked) -> Json:
        """Calls a tool."""
        self._require_tools()
        request = _call_in(asked)
        if asked.seat is None:
            async with visit(self._sessions, reset=True) as seat:
                return await self._call(seat, request)
        return await self._call(asked.seat, request)

    async def _call(self, seat: Seat, request: Request) -> Json:
        try:
            if self._sessions.spec.traits.requires_reset and not seat.was_reset:
                await ask(seat, Request("reset"))  # clients of tools alone never do
            told = await ask(seat, request)
        except SessionError as error:
            return self._shape.failure(error)
        return self._shape.result(told, {} if self._sessions.agents_apart else rewarded(told))

    def _require_tools(self) -> None:
        if not self._sessions.spec.traits.has_tools:
            raise RpcRefusal(JsonRpcErrorCode.INTERNAL_ERROR, NO_TOOLS)


class OpenEnvMethods:
    """The table of OpenEnv's own convention.

    Args:
        sessions: the server's.
        alone: no other process shares the port, so that a session is found again.
    """

    def __init__(self, sessions: Sessions, *, alone: bool = True) -> None:
        self._sessions = sessions
        self._alone = alone
        self._tools = ToolMethods(sessions, OPENENV)
        self.table: Table = {
            McpMethod.TOOLS_LIST.value: self._list,
            McpMethod.TOOLS_CALL.value: self._call,
            "openenv/session/create": self._create,
            "openenv/session/close": self._close,
        }

    async def _list(self, asked: Asked) -> Json:
        return await self._tools.list(self._in_session(asked))

    async def _call(self, asked: Asked) -> Json:
        return await self._tools.call(self._in_session(asked))

    async def _create(self, asked: Asked) -> Json:
        """A session that plain HTTP holds; on a socket, that of the socket."""
        if asked.seat is not None:
            return {"session_id": asked.seat.session_id}
        require_alone(self._alone)
        apart = self._sessions.agents_apart
        seat = await (begun(self._sessions) if apart else self._sessions.open())
        return {"session_id": seat.session_id}

    async def _close(self, asked: Asked) -> Json:
        """Ends a session, or has it end with the socket that is attached to it."""
        seat = self._named(_required_id(asked.params))
        if asked.on_socket and seat is asked.seat:
            raise RpcRefusal(
                JsonRpcErrorCode.INVALID_REQUEST,
                "a socket's own session ends with the socket; close that",
            )
        if seat.attached or not seat.joinable:
            seat.ends_with_socket = True
            return {"session_id": seat.session_id, "closed": False, "closing": True}
        await seat.close()
        return {"session_id": seat.session_id, "closed": True}

    def _in_session(self, asked: Asked) -> Asked:
        named = asked.params.get("session_id")
        return asked if named is None else replace(asked, seat=self._named(named))

    def _named(self, session_id: object) -> Seat:
        try:
            return self._sessions.held(session_id if isinstance(session_id, str) else "")
        except SessionNotFoundError:
            raise RpcRefusal(
                JsonRpcErrorCode.INVALID_PARAMS,
                f"Unknown session_id: {str(session_id)[:80]} (it never was, or it has ended; "
                "openenv/session/create makes one)",
            ) from None


def require_alone(alone: bool) -> None:
    """Refuses a session that its caller would not find again.

    Raises:
        RpcRefusal: the next request may reach another process.
    """
    if not alone:
        raise RpcRefusal(
            JsonRpcErrorCode.SERVER_ERROR,
            "several server processes share this port, so that a session over plain HTTP is not "
            "found again; use WS /mcp, or serve with --workers 1",
        )


def _call_in(asked: Asked) -> Request:
    """The call that a request's parameters describe.

    Raises:
        RpcRefusal: they describe none.
    """
    name, arguments = asked.params.get("name"), asked.params.get("arguments")
    if not isinstance(name, str) or not name:
        raise _invalid("'name' is required: the tool's, as text")
    if arguments is not None and not isinstance(arguments, dict):
        raise _invalid(f"'arguments' must be an object, got {type(arguments).__name__}")
    called = {"tool_name": name, "arguments": arguments or {}}
    return Request("call_tool", called, _timeout_in(asked.params), emit=asked.emit)


def _timeout_in(params: Json) -> float | None:
    """The seconds that a call may take, if its caller says so."""
    meta: Any = params.get("_meta")
    own = meta.get("openenv") if isinstance(meta, dict) else None
    told = own.get("timeout_s") if isinstance(own, dict) else params.get("timeout_s")
    if told is None:
        return None
    if type(told) not in (int, float) or not 0 < told < math.inf:
        raise _invalid(f"'timeout_s' must be more than 0 seconds, got {str(told)[:80]!r}")
    return float(told)


def _required_id(params: Json) -> object:
    session_id: object = params.get("session_id")
    if session_id is None:
        raise _invalid("'session_id' is required: which session to close")
    return session_id


def _invalid(what: str) -> RpcRefusal:
    return RpcRefusal(JsonRpcErrorCode.INVALID_PARAMS, f"Invalid params: {what}")
