"""JSON-RPC said by hand, on each of the roads to tools."""

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.serving import Answer, Served, Socket

SESSION, VERSION = "Mcp-Session-Id", "MCP-Protocol-Version"
EVENTS = {"Accept": "application/json, text/event-stream"}
LATEST, SESSIONLESS = "2025-11-25", "2026-07-28"
HELLO = {
    "protocolVersion": LATEST,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
_ids = itertools.count(1)

Params = dict[str, Any]


def ask(method: str, params: Params | None = None, **more: Any) -> dict[str, Any]:
    """A request; `more` adds to it, or takes away what is None."""
    asked = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params} | more
    return {name: value for name, value in asked.items() if value is not None}


def post(served: Served, asked: Any, headers: Mapping[str, str] | None = None) -> Answer:
    """What `POST /mcp` answers."""
    return served.http("POST", "/mcp", asked, headers)


def told(answer: Answer, status: int = 200) -> dict[str, Any]:
    """The response in an answer."""
    assert answer.status == status, (answer.status, answer.body)
    response: dict[str, Any] = answer.json()
    assert response["jsonrpc"] == "2.0"
    assert ("error" in response) is not ("result" in response)
    return response


def result(response: dict[str, Any]) -> Any:
    assert "result" in response, response
    return response["result"]


def error(response: dict[str, Any]) -> dict[str, Any]:
    assert "error" in response, response
    fault: dict[str, Any] = response["error"]
    assert fault["message"]
    return fault


def openenv(served: Served, method: str, params: Params | None = None) -> dict[str, Any]:
    """A request in OpenEnv's own convention."""
    return told(post(served, ask(method, params)))


def call(name: str, session_id: str | None = None, **arguments: Any) -> Params:
    """The parameters of a tool's call."""
    params: Params = {"name": name, "arguments": arguments}
    return params if session_id is None else params | {"session_id": session_id}


class Agent:
    """A client of MCP's own convention, with a session."""

    def __init__(self, served: Served, version: str = LATEST) -> None:
        self.served = served
        answer = post(served, ask("initialize", HELLO | {"protocolVersion": version}), EVENTS)
        self.welcome = result(told(answer))
        self.session_id = answer.headers[SESSION.lower()]
        self.headers = EVENTS | {SESSION: self.session_id, VERSION: self.welcome["protocolVersion"]}
        notice = post(served, ask("notifications/initialized", id=None), self.headers)
        assert (notice.status, notice.body) == (202, b"")

    def post(self, asked: Any) -> Answer:
        return post(self.served, asked, self.headers)

    def ask(self, method: str, params: Params | None = None) -> dict[str, Any]:
        return told(self.post(ask(method, params)))

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = result(self.ask("tools/call", call(name, **arguments)))
        return answer

    def leave(self) -> Answer:
        return self.served.http("DELETE", "/mcp", None, self.headers)


class Line:
    """A socket of `WS /mcp`."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket

    def send(self, asked: Any) -> None:
        self.socket.connection.send(asked if isinstance(asked, str | bytes) else json.dumps(asked))

    def receive(self) -> dict[str, Any]:
        response: dict[str, Any] = json.loads(self.socket.connection.recv(timeout=30))
        return response

    def ask(self, method: str, params: Params | None = None, **more: Any) -> dict[str, Any]:
        self.send(ask(method, params, **more))
        return self.receive()


@contextmanager
def line(served: Served) -> Iterator[Line]:
    with served.socket("/mcp") as socket:
        yield Line(socket)


def framed(socket: Socket, method: str, params: Params | None = None) -> dict[str, Any]:
    """A request in an `mcp` frame of `/ws`."""
    answer = socket.ask({"type": "mcp", "data": ask(method, params)})
    assert answer["type"] == "mcp"
    data: dict[str, Any] = answer["data"]
    return data
