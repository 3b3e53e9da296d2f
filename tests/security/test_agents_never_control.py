"""An agent can never reset, step, read the state, or close: by any road, whatever it says.

Each attack runs inside one session, between two calls of a tool that counts. The environments note
what is done to them, and would let it be done.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from websockets.exceptions import WebSocketException

from openenv.env.tool_models import RESERVED_TOOL_NAMES
from tests.security.worlds import JOURNAL, Decorated, Listing, Served, Stepping
from tests.server.mcp.rpc import Agent, ask, call, line, openenv, post, result
from tests.serving import Served as Server
from tests.serving import eventually, serving

pytestmark = [pytest.mark.timeout(120), pytest.mark.expects_error_log]

WORLDS: dict[str, Any] = {
    world.__name__.lower(): world for world in (Decorated, Listing, Stepping, Served)
}
SAID = sorted(RESERVED_TOOL_NAMES)
NAMES = [
    *SAID,
    *(" reset", "reset\0", "RESET", "reset_async", "_step_impl", "__init__", "state.__class__"),
    *("execute_code", "call_tool", "list_tools", "mcp_session", "_mode"),
]
PREFIXES = ("", "openenv/", "openenv/session/", "tools/", "environment/")
METHODS = [f"{prefix}{name}" for prefix in PREFIXES for name in (*SAID, "turn")]
METHODS.remove("openenv/session/close")  # which is how an agent leaves
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    *((method, {"seed": 1, "action": {}, "data": {}}) for method in METHODS),
    *(("tools/call", call(name)) for name in NAMES),
    *(("tools/call", {"name": "count", "arguments": {}, name: {}}) for name in SAID),
]
BODY = {"seed": 1, "action": {"type": "call_tool", "tool_name": "count"}}
PATHS = [
    *("/reset", "/step", "/state", "/close", "/session", "/ws", "/harness", "/tasks"),
    *("/reset/", "//reset", "/RESET", "/%72eset", "/mcp/reset", "/mcp/../reset", "/./reset"),
    *("/web/reset", "/web/step", "/web/state", "/web/close", "/sessions", "/session/reset"),
]
FRAMES: list[dict[str, Any]] = [
    {"type": "reset"},
    {"type": "reset", "data": {"seed": 1}},
    {"type": "step", "data": {}},
    {"type": "step", "data": {"type": "call_tool", "tool_name": "reset", "arguments": {}}},
    {"type": "step", "data": {"type": "call_tool", "tool_name": "count", "arguments": {}}},
    {"type": "state"},
    {"type": "turn", "data": {"message": "go on"}},
    {"type": "hello", "data": {"versions": [2]}},
]
TRICKS: list[dict[str, str]] = [
    {"X-Session-ID": "{session}"},
    {"Authorization": "Bearer "},
    {"Authorization": "Bearer null"},
    {"X-HTTP-Method-Override": "POST"},
    {"X-Original-URL": "/reset", "X-Rewrite-URL": "/reset"},
]


@contextmanager
def served(world: str, mode: str) -> Iterator[Server]:
    with serving(WORLDS[world], host_kind="thread", mode=mode) as server:
        yield server
        eventually(lambda: server.active() == 0)


SERVERS = [
    pytest.param((world, mode), id=f"{world}-{mode}")
    for world in WORLDS
    for mode in ("simulation", "production")
]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with served(*request.param) as server:
        yield server


@pytest.fixture(scope="module")
def production() -> Iterator[Server]:
    with served("listing", "production") as server:  # which would answer anything
        yield server


@contextmanager
def agent_of(server: Server) -> Iterator[Agent]:
    agent = Agent(server)
    try:
        yield agent
    finally:
        agent.leave()


def counted(response: Any) -> int:
    """The number in the result of a call, in either convention."""
    told = result(response)
    structured = told.get("structuredContent") or {}
    number: int = structured["result"] if "result" in structured else told["data"]
    return number


def attack(count: Callable[[], int], assault: Callable[[], None]) -> None:
    """The episode is the same before and after; sessions that were opened were reset unasked."""
    before = count()
    del JOURNAL[:]
    assault()
    assert set(JOURNAL) <= {"reset", "close"}
    assert count() > before


def test_over_a_session_of_mcp(server: Server) -> None:
    with agent_of(server) as agent:

        def assault() -> None:
            for method, params in REQUESTS:
                agent.post(ask(method, params))
                agent.post(ask(method, params, id=None))
            assert JOURNAL == []

        attack(lambda: counted(agent.ask("tools/call", call("count"))), assault)
    eventually(lambda: JOURNAL == ["close"])


def test_over_a_session_of_our_own_convention(server: Server) -> None:
    session = result(openenv(server, "openenv/session/create"))["session_id"]
    server.post("/reset", {}, session)  # in production there is no such road, and no need of it

    def assault() -> None:
        for method, params in REQUESTS:
            post(server, ask(method, {**params, "session_id": session}))
        assert JOURNAL == []

    try:
        attack(lambda: counted(openenv(server, "tools/call", call("count", session))), assault)
    finally:
        openenv(server, "openenv/session/close", {"session_id": session})


def test_over_requests_without_a_session(server: Server) -> None:
    def assault() -> None:
        for method, params in REQUESTS:
            post(server, ask(method, params))

    with agent_of(server) as agent:
        attack(lambda: counted(agent.ask("tools/call", call("count"))), assault)


def test_over_a_line(server: Server) -> None:
    with line(server) as socket:

        def assault() -> None:
            for method, params in REQUESTS:
                socket.ask(method, params)
            assert JOURNAL == []

        attack(lambda: counted(socket.ask("tools/call", call("count"))), assault)


def test_over_frames_of_a_socket(production: Server) -> None:
    with production.socket() as socket:

        def asked(method: str, params: dict[str, Any]) -> Any:
            return socket.ask({"type": "mcp", "data": ask(method, params)})["data"]

        def assault() -> None:
            for method, params in REQUESTS:
                asked(method, params)
            for frame in FRAMES:
                assert socket.ask(frame)["type"] == "error"
            assert JOURNAL == []

        attack(lambda: counted(asked("tools/call", call("count"))), assault)


def test_in_production_over_every_path(production: Server) -> None:
    known = json.loads(production.http("GET", "/openapi.json").body)["paths"]
    with agent_of(production) as agent:

        def assault() -> None:
            for path in {*PATHS, *known} - {"/mcp"}:
                for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS"):
                    answer = production.http(method, path, BODY if method == "POST" else None)
                    assert b'"observation"' not in answer.body or path == "/schema", (method, path)
                for trick in TRICKS:
                    named = {k: v.replace("{session}", agent.session_id) for k, v in trick.items()}
                    production.http("POST", path, {}, named)
            assert JOURNAL == []

        attack(lambda: counted(agent.ask("tools/call", call("count"))), assault)


@pytest.mark.parametrize("path", ["/ws", "/mcp", "/harness", "/ws?session_id={session}"])
def test_in_production_over_every_socket(production: Server, path: str) -> None:
    with agent_of(production) as agent:
        address = path.replace("{session}", agent.session_id)

        def assault() -> None:
            with suppress(WebSocketException), production.socket(address) as socket:
                for frame in FRAMES:  # it is refused, or closed
                    socket.connection.send(json.dumps(frame))
                    assert "observation" not in json.loads(socket.connection.recv(timeout=30))

        attack(lambda: counted(agent.ask("tools/call", call("count"))), assault)
