"""Sessions of MCP's own clients, and the table of MCP's own methods."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from openenv._version import __version__
from openenv.protocol.errors import Json, SessionNotFoundError
from openenv.protocol.jsonrpc import JsonRpcErrorCode, McpMethod, RequestId, RpcRefusal
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.mcp.asking import begun
from openenv.server.mcp.methods import NO_TOOLS, Asked, Table, ToolMethods, require_alone
from openenv.server.mcp.revisions import WITH_SESSIONS, agreed
from openenv.server.mcp.shapes import mcp_result

MAX_CALLS = 64
"""Requests of one session that may wait for their answers; more are refused."""
CAPABILITIES: Json = {"tools": {"listChanged": False}}
Work = asyncio.Future[Any]


@dataclass
class Running:
    """The unanswered requests of one session, by their ids; it bounds and cancels them."""

    works: dict[RequestId, Work] = field(default_factory=dict)

    def add(self, request_id: RequestId, work: Work) -> None:
        """Keeps a request's work until it is done.

        Raises:
            RpcRefusal: there are too many, or its id is another's.
        """
        why = None
        if request_id in self.works:
            why = f"the request {request_id!r} is still running; give each an id of its own"
        elif len(self.works) >= MAX_CALLS:
            why = f"{MAX_CALLS} requests of this session wait for their answers; ask again later"
        if why is not None:
            work.cancel()
            raise RpcRefusal(JsonRpcErrorCode.INVALID_REQUEST, why)
        self.works[request_id] = work
        work.add_done_callback(lambda _: self.works.pop(request_id, None))

    def cancel_all(self) -> None:
        """Cancels every request."""
        for work in list(self.works.values()):
            work.cancel()

    def cancel(self, params: Json) -> None:
        """Obeys `notifications/cancelled`; what is answered already, or unknown, stays so."""
        request_id = params.get("requestId")
        work = self.works.get(request_id) if isinstance(request_id, int | str) else None
        if work is not None:
            work.cancel()


class Agents:
    """The sessions that were opened with `initialize`, each with an environment of its own.

    Args:
        sessions: the server's.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._running: WeakKeyDictionary[Seat, Running] = WeakKeyDictionary()

    async def open(self, session_id: str) -> Seat:
        """Opens a session and begins its episode; it ends when nobody calls it for long.

        Raises:
            SessionError: there was no room, or the environment failed.
        """
        seat = await begun(self._sessions, session_id)
        seat.idle_limit = self._sessions.limits.unattached_timeout
        self._running[seat] = Running()
        return seat

    def find(self, session_id: str) -> tuple[Seat, Running]:
        """A session, and what runs in it.

        Raises:
            SessionNotFoundError: no client has opened it here, or it has ended.
        """
        seat = self._sessions.held(session_id)
        running = self._running.get(seat)
        if running is None:
            raise SessionNotFoundError(session_id)
        return seat, running

    def knows(self, session_id: str) -> bool:
        """Whether there is such a session."""
        try:
            return bool(self.find(session_id))
        except SessionNotFoundError:
            return False


class McpMethods:
    """The table of MCP's own methods.

    Args:
        sessions: the server's.
        name: the environment's.
        alone: no other process shares the port, so that a session is found again.
    """

    def __init__(self, sessions: Sessions, name: str, *, alone: bool = True) -> None:
        self._sessions = sessions
        self._name = name
        self._alone = alone
        tools = ToolMethods(sessions, mcp_result)
        self.table: Table = {
            "ping": self._ping,
            "server/discover": self._discover,
            McpMethod.TOOLS_LIST.value: tools.list,
            McpMethod.TOOLS_CALL.value: tools.call,
        }

    def welcome(self, params: Json) -> Json:
        """The result of `initialize`.

        Raises:
            RpcRefusal: its parameters are wrong, or no session could be of use.
        """
        version = agreed(params.get("protocolVersion"))
        if not self._sessions.spec.traits.has_tools:
            raise RpcRefusal(JsonRpcErrorCode.INTERNAL_ERROR, NO_TOOLS)
        require_alone(self._alone)
        return {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": self._name, "version": __version__},
        }

    async def _ping(self, asked: Asked) -> Json:
        return {}

    async def _discover(self, asked: Asked) -> Json:
        """Names the revisions with sessions: a tool's effects outlast the call only in one."""
        return {
            "supportedVersions": list(WITH_SESSIONS),
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": self._name, "version": __version__},
        }
