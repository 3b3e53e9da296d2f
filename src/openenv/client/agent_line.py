"""AgentLine: a session over `WS /mcp`, which has the environment's tools and no control of it."""

from __future__ import annotations

import math
from contextlib import suppress

from openenv._flow import Flow
from openenv.client.conversation import Conversation
from openenv.client.effects import Disconnect, Effect, Heard, Transmit, Wait, late
from openenv.client.exchanges import Exchanges
from openenv.protocol.errors import ENDING_CODES, Json, OpenEnvError, ProtocolError, SessionError
from openenv.protocol.messages import Request, as_tool_request
from openenv.protocol.rpc_client import (
    CALL,
    CLOSE_SOCKET,
    CREATE,
    LIST,
    RpcFailed,
    RpcLine,
)

CLOSE_TIMEOUT_S = 15.0
"""How long `close()` waits for the server to free the session."""
LAST_TRY_S = 1.0
"""How long it waits for one that has left the last request unanswered."""


class AgentLine(Exchanges):
    """One session over one connection in JSON-RPC; it ends with the connection.

    What it answers has the form that the same actions are answered with on `/ws`.

    Attributes:
        session_id: the server's name for it.
        has_called: whether a tool was called in it.
    """

    def __init__(self, wait_s: float) -> None:
        super().__init__(wait_s)
        self.session_id = ""
        self.has_called = False
        self._line = RpcLine()
        self._is_busy = False

    def begin(self, timeout_s: float) -> Flow[Effect, None]:
        """Has the server open the session.

        Raises:
            SessionError: it refused.
        """
        try:
            created = yield from self._request(CREATE, {}, timeout_s + self._wait_s)
        except RpcFailed as failed:
            raise self._typed(failed) from None
        self.session_id = created.get("session_id", "")
        if not isinstance(self.session_id, str) or not self.session_id:
            raise ProtocolError(f"the server opened a session without a name: {created}")

    def ask(self, request: Request, timeout_s: float) -> Flow[Effect, Json]:
        """Lists or calls tools.

        Raises:
            SessionError: the server's typed answer.
            ProtocolError: it broke the rules.
            ReplyTimeout: the time was up; the session goes on.
        """
        asked = as_tool_request(request)
        if asked.op == "call_tool":
            return (yield from self._call(asked, timeout_s))
        try:
            listed = yield from self._request(LIST, {}, timeout_s)
        except RpcFailed as failed:
            raise self._typed(failed) from None
        return _answer({"tools": listed.get("tools")}, {})

    def close(self) -> Flow[Effect, None]:
        """Ends the connection, and with it the session.

        A server that knows how frees the session first; to others it ends with the connection.
        """
        if self.lost is None and not self._is_busy:
            patience = CLOSE_TIMEOUT_S if self._line.is_answered() else LAST_TRY_S
            with suppress(RpcFailed, OpenEnvError):
                yield from self._request(CLOSE_SOCKET, {}, patience)
        yield Disconnect()

    def _call(self, asked: Request, timeout_s: float) -> Flow[Effect, Json]:
        self.has_called = True
        name = asked.data["tool_name"]
        params = {"name": name, "arguments": asked.data.get("arguments") or {}}
        if asked.timeout_s is not None:
            params["timeout_s"] = asked.timeout_s
        try:
            result = yield from self._request(CALL, params, timeout_s)
        except RpcFailed as failed:
            if not failed.is_of_the_tool:
                raise self._typed(failed) from None
            return _answer({"tool_name": name, "result": None, "error": _error_of(failed)}, {})
        return _answer({"tool_name": name, "result": result, "error": None}, _outcome(result))

    def _typed(self, failed: RpcFailed) -> SessionError:
        error = failed.typed()
        if error.code in ENDING_CODES:
            self.lost = error.message
        return error

    def _request(self, method: str, params: Json, timeout_s: float) -> Flow[Effect, Json]:
        """One request and its answer. A late answer is dropped: the session goes on.

        Raises:
            RpcFailed: the answer is an error.
        """
        line, wait = self._line, Wait(timeout_s)
        self._is_busy = True
        try:
            frames = line.ask(method, params)
            while not line.is_answered():
                heard = yield Transmit(frames, wait, line.receive, line.is_answered, math.inf)
                if heard is Heard.LATE:
                    raise late(wait)
                frames = []
        except (SessionError, ProtocolError) as error:
            self.lost = str(error)
            raise
        finally:
            self._is_busy = False
            if not line.is_answered():
                line.give_up()
        return line.result()


class AgentConversation(Conversation):
    """A conversation of an agent."""

    @property
    def has_called(self) -> bool:
        """Whether a tool was called in the session."""
        return isinstance(self._talk, AgentLine) and self._talk.has_called

    def hold(self, operation: str) -> Flow[Effect, str]:
        """The session in which an operation takes place, opened if need be; gives its name.

        Raises:
            SessionLost: it is gone, and the operation is none that begins anew.
        """
        if operation != "reset":
            self._require_session(operation)
        yield from self.connect()
        return self._talk.session_id if isinstance(self._talk, AgentLine) else ""

    def adopt(self) -> None:
        """A connection stands ready that was made elsewhere: it speaks JSON-RPC."""
        self._talk, self.protocol = AgentLine(self._endpoint.wait_s), "json-rpc"
        self._lost, self._steps = None, 0

    def _open(self) -> Flow[Effect, None]:
        yield from super()._open()
        try:
            if isinstance(self._talk, AgentLine):
                yield from self._talk.begin(self._patience("reset", None))
        except BaseException:
            self._talk = None
            raise


def _outcome(result: Json) -> Json:
    """What a call did to the episode, where the server tells."""
    match result:
        case {"_meta": {"openenv": {**told}}}:
            return {name: told[name] for name in ("reward", "done", "truncated") if name in told}
    return {}


def _answer(observation: Json, outcome: Json) -> Json:
    return {"observation": observation, "reward": None, "done": False, **outcome}


def _error_of(failed: RpcFailed) -> Json:
    """The error of a call. Servers that tell no type say it in the text, each in the same words."""
    message = str(failed)
    kind = failed.told.get("error_type")
    if kind is None and message.startswith("Unknown tool"):
        kind = "tool_not_found"
    elif kind is None and " validation error" in message.partition("\n")[0]:
        kind = "invalid_args"
    return {"error_type": kind or "execution_error", "message": message}
