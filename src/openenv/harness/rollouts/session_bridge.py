"""A session's tools by JSON-RPC, in the same process: for agents that speak MCP's messages."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from openenv.harness.rollouts.calls import call, in_words, record
from openenv.harness.rollouts.results import HarnessRolloutResult, HarnessRunLimits, ToolResult
from openenv.harness.rollouts.rollout_errors import ReservedTool
from openenv.protocol.errors import Json
from openenv.protocol.jsonrpc import (
    JsonRpcErrorCode,
    JsonRpcRequest,
    JsonRpcResponse,
    McpMethod,
    RpcRefusal,
    read_request,
)

if TYPE_CHECKING:
    from openenv.harness.rollouts.sessions import ResourceSession


class SessionMCPBridge:
    """Answers `tools/list` and `tools/call` for the agent that plays a session.

    An agent may ask from any thread; its requests are answered one after the other.

    Args:
        session: the episode.
        limits: of which `max_total_tool_calls` is enforced.

    Attributes:
        rollout: the calls that reached the session, and whether one ended the episode.
    """

    def __init__(self, session: ResourceSession, limits: HarnessRunLimits | None = None) -> None:
        self.rollout = HarnessRolloutResult()
        self._session = session
        self._most_calls = (limits or HarnessRunLimits()).max_total_tool_calls
        self._turn = threading.Lock()

    def handle_request(self, request: Json) -> Json:
        """The response to a request; whatever goes wrong is its `error`."""
        try:
            asked = read_request(request)
        except RpcRefusal as refusal:
            return refusal.response()
        try:
            with self._turn:
                result = self._result_of(asked)
        except Exception as error:  # noqa: BLE001  # a tool may raise anything
            refused = JsonRpcResponse.error_response(
                _code(error), in_words(error), request_id=asked.id
            )
            return refused.model_dump()
        return JsonRpcResponse.success(result, asked.id).model_dump()

    def _result_of(self, asked: JsonRpcRequest) -> Json:
        if asked.method == McpMethod.TOOLS_LIST:
            return {"tools": self._listed()}
        if asked.method == McpMethod.TOOLS_CALL:
            return self._called(asked.params)
        raise RpcRefusal(
            JsonRpcErrorCode.METHOD_NOT_FOUND,
            f"unknown method {asked.method!r}: a session answers tools/list and tools/call",
        )

    def _listed(self) -> list[Json]:
        return [
            {"name": t.name, "description": t.description, "inputSchema": t.input_schema}
            for t in self._session.list_tools()
        ]

    def _called(self, params: Json) -> Json:
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str):
            raise ValueError(f"params.name must be the name of a tool, got {name!r}")
        self._refuse_beyond_the_end()
        result = call(self._session, name, arguments)
        record(self.rollout, name, arguments, result)
        self.rollout.done = self.rollout.done or result.done
        return _as_json(result)

    def _refuse_beyond_the_end(self) -> None:
        if self.rollout.done:
            raise RpcRefusal(JsonRpcErrorCode.SERVER_ERROR, "the episode has ended")
        if self._most_calls is not None and len(self.rollout.tool_trace) >= self._most_calls:
            self.rollout.metrics["truncated"] = True
            raise RpcRefusal(
                JsonRpcErrorCode.SERVER_ERROR, f"an episode may have {self._most_calls} calls"
            )


def _as_json(result: ToolResult) -> Json:
    return {
        "data": result.data,
        "done": result.done,
        "metadata": result.metadata,
        "error": result.error,
    }


def _code(error: Exception) -> JsonRpcErrorCode:
    if isinstance(error, RpcRefusal):
        return JsonRpcErrorCode(error.error.code)
    if isinstance(error, KeyError) and not isinstance(error, ReservedTool):
        return JsonRpcErrorCode.METHOD_NOT_FOUND
    if isinstance(error, ReservedTool | ValueError):
        return JsonRpcErrorCode.INVALID_PARAMS
    return JsonRpcErrorCode.INTERNAL_ERROR
