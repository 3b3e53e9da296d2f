"""A client's half of JSON-RPC: requests, what answers them, and what its errors mean."""

from __future__ import annotations

from typing import Any

from openenv.protocol.envelope import Frame
from openenv.protocol.errors import (
    EnvironmentFactoryError,
    EnvironmentFailed,
    InvalidRequest,
    Json,
    NoTools,
    ProtocolError,
    SessionCapacityError,
    SessionError,
)
from openenv.protocol.messages import parse_object
from openenv.protocol.values import encode

CREATE, CLOSE_SOCKET = "openenv/session/create", "openenv/socket/close"
LIST, CALL = "tools/list", "tools/call"
CANCEL = "notifications/cancelled"
_MISSING_TOOLS = "does not support MCP"
_IN_VAIN = {-32700, -32601, -32600, -32602}
"""Codes of requests that were never carried out."""
_OF_THE_SERVER = -32000
_TELLING = {"max_sessions": SessionCapacityError.code, "factory_name": EnvironmentFactoryError.code}
"""What an error's data tells that has no code of ours."""


class RpcFailed(Exception):
    """An error in place of a result.

    Attributes:
        error: it, as it came: `code`, `message`, `data`.
    """

    def __init__(self, error: Json) -> None:
        super().__init__(str(error.get("message") or f"an error without a message: {error}"))
        self.error = error

    @property
    def told(self) -> Json:
        """What the error says beside its message."""
        told = self.error.get("data")
        return told if isinstance(told, dict) else {}

    @property
    def is_of_the_tool(self) -> bool:
        """Whether a tool was called in vain, and nothing else is wrong."""
        told = self.told
        return "error_type" in told or ("code" not in told and _MISSING_TOOLS not in str(self))

    @property
    def is_of_the_session(self) -> bool:
        """Whether it says why there is no session, rather than what it thinks of a message."""
        return "code" in self.told or self.error.get("code") == _OF_THE_SERVER

    def typed(self) -> SessionError:
        """What it means for a session."""
        told = self.told
        code = told.get("code") or next(
            (code for mark, code in _TELLING.items() if mark in told), self._code()
        )
        return SessionError.from_data({**told, "message": str(self), "code": code})

    def _code(self) -> str:
        if _MISSING_TOOLS in str(self):
            return NoTools.code
        number = self.error.get("code")
        if number == _OF_THE_SERVER:
            return SessionError.code
        return InvalidRequest.code if number in _IN_VAIN else EnvironmentFailed.code


def rpc_request(ident: int, method: str, params: Json) -> Json:
    """A request."""
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def object_in(frame: str | bytes) -> Json:
    """What a server sent.

    Raises:
        ProtocolError: it is no JSON object.
    """
    try:
        return parse_object(frame)
    except InvalidRequest as error:
        raise ProtocolError(f"the server sent something unreadable: {error.message}") from error


def rpc_result(answer: Json, ident: int) -> Json:
    """The result in the answer to a request.

    Raises:
        RpcFailed: there is an error instead.
        ProtocolError: it is no answer to it.
    """
    if (failure := error_in(answer)) is not None:
        raise failure
    result: Any = answer.get("result")
    if answer.get("id") != ident or not isinstance(result, dict):
        raise ProtocolError(f"the server's answer to request {ident} is none: {str(answer)[:200]}")
    return result


def error_in(answer: Json) -> RpcFailed | None:
    """The error in an answer, if it is one."""
    error = answer.get("error")
    return RpcFailed(error) if "jsonrpc" in answer and isinstance(error, dict) else None


class RpcLine:
    """A client's requests over one connection, one at a time; answers are told by their ids."""

    def __init__(self) -> None:
        self._last_id = 0
        self._answer: Json | None = None
        self._parting: list[Frame] = []

    def ask(self, method: str, params: Json) -> list[Frame]:
        """The frames of a request, after those of what was given up before it."""
        self._last_id, self._answer = self._last_id + 1, None
        frames, self._parting = self._parting, []
        return [*frames, _text(rpc_request(self._last_id, method, params))]

    def receive(self, frame: str | bytes) -> None:
        """Takes a frame in; notices and late answers are dropped.

        Raises:
            SessionError: it ends the session, or refuses one.
            ProtocolError: it is no answer to anything.
        """
        told = object_in(frame)
        ident = told.get("id")
        if "method" in told:
            return
        if ident is None and (failure := error_in(told)) is not None:
            if failure.is_of_the_session:
                raise failure.typed()
        elif ident == self._last_id and ident is not True:
            self._answer = told
        elif not isinstance(ident, int) or not 0 < ident < self._last_id:
            raise ProtocolError(f"the server answers what nobody asked: {str(told)[:200]}")

    def is_answered(self) -> bool:
        """Whether the last request is."""
        return self._answer is not None

    def result(self) -> Json:
        """The result of the last request; errors as `rpc_result`."""
        return rpc_result(self._answer or {}, self._last_id)

    def give_up(self) -> None:
        """Nobody waits for the last request any more: the server is told with the next."""
        notice = {"requestId": self._last_id}
        frame = {"jsonrpc": "2.0", "method": CANCEL, "params": notice}
        self._parting = [*self._parting, _text(frame)]


def _text(message: Json) -> str:
    return encode(message).decode()
