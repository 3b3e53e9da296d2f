"""Sessions of MCP's own clients, and the table of MCP's own methods."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from openenv._version import __version__
from openenv.protocol.errors import Json, SessionNotFoundError
from openenv.protocol.jsonrpc import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    McpMethod,
    RequestId,
    RpcRefusal,
)
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.mcp.asking import begin
from openenv.server.mcp.methods import NO_TOOLS, Asked, Table, ToolMethods, require_alone
from openenv.server.mcp.revisions import WITH_SESSIONS, agreed
from openenv.server.mcp.shapes import MAX_INSTRUCTIONS, MCP

MAX_CALLS = 64
"""Requests of one session that may wait for their answers; more are refused."""
CAPABILITIES: Json = {"tools": {"listChanged": False}}
Work = asyncio.Future[Any]


class Running:
    """The unanswered requests of one session, which may be cancelled by their ids."""

    def __init__(self) -> None:
        self._works: set[Work] = set()
        self._by_id: dict[RequestId, Work] = {}

    def __len__(self) -> int:
        return len(self._works)

    def keep(self, request_id: RequestId, work: Work) -> None:
        """Keeps a request's work until it is done."""
        self._works.add(work)
        self._by_id[request_id] = work
        work.add_done_callback(lambda _: self._drop(request_id, work))

    def cancel_named(self, notice: JsonRpcRequest) -> None:
        """Obeys `notifications/cancelled`; what is answered already, or unknown, stays so."""
        request_id = notice.params.get("requestId")
        if notice.method == "notifications/cancelled" and isinstance(request_id, int | str):
            work = self._by_id.get(request_id)
            if work is not None:
                work.cancel()

    def cancel_all(self) -> None:
        """Cancels every request."""
        for work in list(self._works):
            work.cancel()

    def _drop(self, request_id: RequestId, work: Work) -> None:
        self._works.discard(work)
        if self._by_id.get(request_id) is work:
            del self._by_id[request_id]


def require_room(waiting: int, limit: int, whose: str) -> None:
    """Refuses one more request than may wait.

    Raises:
        RpcRefusal: there are as many.
    """
    if waiting >= limit:
        raise RpcRefusal(
            JsonRpcErrorCode.SERVER_ERROR,
            f"{limit} requests to {whose} wait for their answers; ask again later",
        )


class Agents:
    """The sessions that were opened with `initialize`, each with an environment of its own.

    Args:
        sessions: the server's.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._running: WeakKeyDictionary[Seat, Running] = WeakKeyDictionary()

    async def open(self, session_id: str) -> Json:
        """Opens a session and begins its episode; it ends when nobody calls it for long.

        Returns:
            The data of what the reset gave.

        Raises:
            SessionError: there was no room, or the environment failed.
        """
        seat, told = await begin(self._sessions, session_id)
        self._running[seat] = Running()
        return told

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
        tools = ToolMethods(sessions, MCP)
        self.table: Table = {
            "ping": self._ping,
            "server/discover": self._discover,
            McpMethod.TOOLS_LIST.value: tools.list,
            McpMethod.TOOLS_CALL.value: tools.call,
        }

    def welcome(self, params: Json) -> Json:
        """The result of `initialize`; its instructions are what the environment says of itself.

        Raises:
            RpcRefusal: its parameters are wrong, or no session could be of use.
        """
        version = agreed(params.get("protocolVersion"))
        if not self._sessions.spec.traits.has_tools:
            raise RpcRefusal(JsonRpcErrorCode.INTERNAL_ERROR, NO_TOOLS)
        require_alone(self._alone)
        about = self._sessions.spec.description
        return {
            "protocolVersion": version,
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": self._name, "version": __version__},
            **({"instructions": about[:MAX_INSTRUCTIONS]} if about else {}),
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
