"""`POST /mcp` and `DELETE /mcp`: both conventions over HTTP."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response

from openenv.protocol.errors import Json, SessionNotFoundError
from openenv.protocol.jsonrpc import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    RequestId,
    RpcRefusal,
    read_message,
    read_request,
    request_id,
)
from openenv.runtime.sessions import Sessions
from openenv.server.mcp import revisions
from openenv.server.mcp.agents import MAX_CALLS, Agents, McpMethods, Running, require_room
from openenv.server.mcp.answers import Answer, Progress, Work, json_response
from openenv.server.mcp.methods import Asked, OpenEnvMethods, respond
from openenv.server.mcp.revisions import SESSION, Headers
from openenv.server.mcp.shapes import instructions
from openenv.server.mcp.socket import McpSocket

MAX_WORKS = 4096
"""Requests to one server that may wait for their answers; more are refused."""
_CACHEABLE = ("server/discover", "tools/list")


class McpEndpoint:
    """`/mcp` over HTTP.

    Args:
        sessions: the server's.
        name: the environment's.
        alone: no other process shares the port, so that a session is found again.

    Attributes:
        openenv: the methods of OpenEnv's own convention.
    """

    def __init__(self, sessions: Sessions, name: str, *, alone: bool = True) -> None:
        self.openenv = OpenEnvMethods(sessions, alone=alone)
        self._mcp = McpMethods(sessions, name, alone=alone)
        self._sessions = sessions
        self._agents = Agents(sessions)
        self._works: set[Work] = set()

    def routes(self) -> APIRouter:
        """The routes; whoever GETs the address is told that there is no stream to read."""
        router = APIRouter(tags=["Tools"])
        router.post("/mcp", response_model=None)(self.post)
        router.delete("/mcp", response_model=None, status_code=204)(self.delete)
        return router

    def socket(self) -> McpSocket:
        """The application behind `WS /mcp`."""
        return McpSocket(self._sessions, self.openenv, self._mcp)

    def give_up(self) -> None:
        """Waits no longer for calls that hang; their callers are told that the server ends."""
        for work in list(self._works):
            work.cancel()

    async def post(self, request: Request) -> Response:
        """Answers one JSON-RPC request, of either convention."""
        headers, message = request.headers, {}
        try:
            message = read_message(await request.body())
            require_room(len(self._works), MAX_WORKS, "this server")
            if revisions.speaks_mcp(headers, message):
                return self._answer_mcp(headers, message)
            return self._answer_openenv(message)
        except SessionNotFoundError as error:
            return _refused(_unknown(error, message), 404)
        except RpcRefusal as refusal:
            refusal.request_id = refusal.request_id or request_id(message)
            is_wrong = refusal.error.code != JsonRpcErrorCode.SERVER_ERROR
            strict = is_wrong and revisions.speaks_mcp(headers, message)
            return _refused(refusal, 400 if strict else 200)

    async def delete(self, request: Request) -> Response:
        """Ends an MCP session and closes its environment."""
        session_id = request.headers.get(SESSION)
        if session_id is None:
            missing = f"DELETE /mcp ends the session that the header {SESSION} names; there is none"
            return _refused(RpcRefusal(JsonRpcErrorCode.INVALID_REQUEST, missing), 400)
        try:
            seat, running = self._agents.find(session_id)
        except SessionNotFoundError as error:
            return _refused(_unknown(error, {}), 404)
        running.cancel_all()
        await seat.close()
        return Response(status_code=204)

    def _answer_openenv(self, message: Json) -> Response:
        """The answer of OpenEnv's own convention.

        Raises:
            RpcRefusal: the request is wrong.
        """
        request = read_request(message)
        table = self.openenv.table
        if request.method not in table and "id" not in message:
            return Response(status_code=202)
        keeps = request.params.get("session_id") is not None
        work = self._begin(respond(table, request, Asked(request.params)))
        return Answer(work, request.id, unheard=keeps)

    def _answer_mcp(self, headers: Headers, message: Json) -> Response:
        """The answer of MCP's own convention.

        Raises:
            SessionNotFoundError: the session is unknown.
            RpcRefusal: the request is wrong.
        """
        revisions.check_version(headers)
        revisions.check_mirrored(headers, message)
        request = read_request(message)
        if request.method == "initialize":
            return self._initialize(request, headers)
        held = headers.get(SESSION)
        seat, running = (None, Running()) if held is None else self._agents.find(held)
        if seat is not None:
            seat.touch()
        if request.id is None:
            return self._notice(request, running)
        require_room(len(running), MAX_CALLS, "this session")
        progress = Progress.asked_for(request) if revisions.accepts_events(headers) else None
        asked = Asked(request.params, seat, emit=progress.emit if progress else None)
        work = self._begin(self._result(request, asked, headers))
        running.keep(request.id, work)
        return Answer(work, request.id, unheard=seat is not None, progress=progress)

    def _initialize(self, request: JsonRpcRequest, headers: Headers) -> Response:
        """Opens a session, of which the client learns by a header."""
        if request.id is None:
            raise _no_id(request)
        if SESSION in headers and self._agents.knows(headers[SESSION]):
            raise RpcRefusal(
                JsonRpcErrorCode.INVALID_REQUEST,
                f"this session was initialized before; leave {SESSION} out to open another",
            )
        session_id = str(uuid.uuid4())
        opening = self._begin(self._welcomed(request, session_id))
        return Answer(opening, request.id, headers={SESSION: session_id}, unheard=False)

    async def _welcomed(self, request: JsonRpcRequest, session_id: str) -> Json:
        async def initialize(asked: Asked) -> Json:
            welcome = self._mcp.welcome(asked.params)
            told = await self._agents.open(session_id)
            return welcome | instructions(told, welcome.get("instructions"))

        return await respond({"initialize": initialize}, request, Asked(request.params))

    def _notice(self, request: JsonRpcRequest, running: Running) -> Response:
        """Takes what needs no answer."""
        if request.method in self._mcp.table:
            raise _no_id(request)
        running.cancel_named(request)
        return Response(status_code=202)

    async def _result(self, request: JsonRpcRequest, asked: Asked, headers: Headers) -> Json:
        told = await respond(self._mcp.table, request, asked)
        if "result" in told and revisions.stands_alone(headers):
            told["result"]["resultType"] = "complete"
            if request.method in _CACHEABLE:
                told["result"] |= {"ttlMs": 0, "cacheScope": "private"}
        return told

    def _begin(self, work: Coroutine[Any, Any, Json]) -> Work:
        begun = asyncio.ensure_future(work)
        self._works.add(begun)
        begun.add_done_callback(self._works.discard)
        return begun


def _refused(refusal: RpcRefusal, status: int) -> Response:
    return json_response(refusal.response(), status)


def _unknown(error: SessionNotFoundError, message: Json) -> RpcRefusal:
    told: RequestId = request_id(message)
    return RpcRefusal(
        JsonRpcErrorCode.INVALID_REQUEST,
        f"Session not found: {str(error.details.get('session_id'))[:80]!r} never was, or has "
        f"ended; send initialize without {SESSION} to begin a new one",
        request_id=told,
    )


def _no_id(request: JsonRpcRequest) -> RpcRefusal:
    return RpcRefusal(
        JsonRpcErrorCode.INVALID_REQUEST,
        f"{request.method[:80]} needs an 'id', a number or a text: without one it is a "
        "notification, which is not answered",
    )
