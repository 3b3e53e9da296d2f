"""Whom a server is for: who may control episodes, who may call tools, and what either is told."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from openenv import ConfigurationError, ControlClosed, GenericEnvClient
from openenv.server.app import create_app
from tests.runtime.tool_worlds import Tools
from tests.serving import Served, serving

CONTROL = {"Authorization": "Bearer trainers-only"}
AGENT = {"Authorization": "Bearer agents-too"}
STRANGER = {"Authorization": "Bearer who-knows"}
ROUTES = [("POST", "/reset"), ("POST", "/step"), ("GET", "/state"), ("DELETE", "/session")]
FRAMES: list[dict[str, Any]] = [
    {"type": "reset"},
    {"type": "reset", "data": {"seed": 1}},
    {"type": "step", "data": {"type": "list_tools"}},
    {"type": "step", "data": {"type": "call_tool", "tool_name": "add", "arguments": {"a": 1}}},
    {"type": "state"},
]
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "add", "arguments": {"a": 2}},
}


def url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


def called(answer: dict[str, Any]) -> Any:
    return answer["result"]["data"]


@pytest.fixture
def production() -> Iterator[Served]:
    with serving(Tools, mode="production") as served:
        yield served


@pytest.fixture
def divided() -> Iterator[Served]:
    """For a trainer with one token and agents with another."""
    with serving(Tools, token="agents-too", control_token="trainers-only") as served:
        yield served


def test_in_production_tools_are_all_there_is(production: Served) -> None:
    for method, path in ROUTES:
        assert production.http(method, path).status == 404
    assert called(production.http("POST", "/mcp", CALL).json()) == 3
    for path in ("/health", "/metadata", "/schema"):
        assert production.http("GET", path).status == 200


def test_in_production_a_socket_speaks_of_tools_only(production: Served) -> None:
    with production.socket() as client:
        for frame in FRAMES:
            assert client.refused(frame)["code"] == "CONTROL_CLOSED"
        answer = client.ask({"type": "mcp", "data": CALL})
        assert called(answer["data"]) == 3  # its episode had begun with it
        assert client.ask({"type": "nope"})["data"]["code"] == "UNKNOWN_TYPE"


def test_in_production_no_second_wire_is_spoken_with_agents(production: Served) -> None:
    with (
        GenericEnvClient(base_url=url(production), protocol="v2+json").sync() as env,
        pytest.raises(ControlClosed, match="control token"),
    ):
        env.reset()


def test_in_production_the_control_token_controls() -> None:
    with serving(Tools, mode="production", control_token="trainers-only") as served:
        with GenericEnvClient(base_url=url(served), headers=CONTROL).sync() as env:
            env.reset(seed=1)
            action = {"type": "call_tool", "tool_name": "who", "arguments": {}}
            assert env.step(action).observation["result"]["data"] == "agent"
            assert env.state()["step_count"] == 1
        with served.socket(additional_headers=STRANGER) as client:
            assert client.refused({"type": "reset"})["code"] == "CONTROL_CLOSED"


def test_the_way_back_is_said_aloud() -> None:
    with serving(Tools, mode="production", allow_agent_control=True) as served:
        with served.socket() as client:
            client.reset()
            assert client.state()["step_count"] == 0
        assert served.http("POST", "/reset").status == 404


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_in_simulation_a_control_token_divides(divided: Served, method: str, path: str) -> None:
    assert divided.http(method, path, None, {}).status == 401
    assert divided.http(method, path, None, STRANGER).status == 401
    refused = divided.http(method, path, None, AGENT)
    assert (refused.status, refused.json()["code"]) == (403, "CONTROL_CLOSED")
    assert divided.http(method, path, None, CONTROL).status not in (401, 403)


def test_without_a_token_for_agents_whoever_comes_is_one() -> None:
    with serving(Tools, control_token="trainers-only") as served:
        assert called(served.http("POST", "/mcp", CALL).json()) == 3
        assert served.http("POST", "/reset").status == 401
        assert served.http("POST", "/reset", None, STRANGER).status == 403
        assert served.http("POST", "/reset", None, CONTROL).status == 200


def test_a_handshake_is_refused_before_there_is_a_session(divided: Served) -> None:
    for headers, status in (({}, b"401"), (AGENT, b"403")):
        with divided.raw() as client:
            lines = [f"{name}: {value}" for name, value in headers.items()]
            assert client.upgrade(*lines).startswith(b"HTTP/1.1 " + status)
    assert divided.http("GET", "/health", None, CONTROL).json()["active_sessions"] == 0
    with GenericEnvClient(base_url=url(divided), headers=CONTROL).sync() as env:
        env.reset()


def test_agents_use_tools_with_their_own_token(divided: Served) -> None:
    assert divided.http("POST", "/mcp", CALL, STRANGER).status == 401
    assert called(divided.http("POST", "/mcp", CALL, AGENT).json()) == 3
    assert called(divided.http("POST", "/mcp", CALL, CONTROL).json()) == 3


def test_a_session_of_an_agent_has_begun(divided: Served) -> None:
    create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
    made = divided.http("POST", "/mcp", create, AGENT).json()["result"]["session_id"]
    call = {**CALL, "params": {"name": "increment", "arguments": {}, "session_id": made}}
    assert [called(divided.http("POST", "/mcp", call, AGENT).json()) for _ in "abc"] == [1, 2, 3]


@pytest.mark.parametrize(("mode", "who"), [("simulation", "trainer"), ("production", "agent")])
def test_tools_of_a_mode_are_seen_in_it(mode: str, who: str) -> None:
    with serving(Tools, mode=mode) as served:
        call = {**CALL, "params": {"name": "who", "arguments": {}}}
        assert called(served.http("POST", "/mcp", call).json()) == who


def test_a_failing_environment_tells_agents_a_number() -> None:
    class Broken(Tools):
        def reset(self, seed: int | None = None) -> Any:
            raise OSError("no such file: /srv/answers.txt")

    with serving(Broken, mode="production") as served:
        answer = served.http("POST", "/mcp", CALL).body.decode()
        assert "/srv" not in answer
        assert "incident" in answer
    with serving(Broken) as served:
        assert "/srv/answers.txt" in served.http("POST", "/reset").body.decode()


@pytest.mark.parametrize("mode", ["training", ""])
def test_an_unknown_mode_is_refused(mode: str) -> None:
    if mode:
        with pytest.raises(ConfigurationError, match="mode must be one of simulation, production"):
            create_app(Tools, mode=mode)
    else:
        create_app(Tools, mode=mode)


def test_variables_say_it_too() -> None:
    program = (
        "from tests.runtime.tool_worlds import Tools\n"
        "from openenv.server.app import create_app\n"
        "from openenv.server.http_server import HTTPEnvServer\n"
        "from tests.serving import serving\n"
        "with serving(Tools) as s:\n"
        "    assert s.http('POST', '/reset').status == 404\n"
        "    with s.socket(additional_headers={'Authorization': 'Bearer abc'}) as c:\n"
        "        c.reset()\n"
        "    with s.socket() as c:\n"
        "        assert c.refused({'type': 'reset'})['code'] == 'CONTROL_CLOSED'\n"
    )
    told = {"OPENENV_MODE": "production", "OPENENV_CONTROL_TOKEN": "abc"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **told},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["default", "run-1"])
def test_an_agent_reaches_no_session_that_a_trainer_named(divided: Served, name: str) -> None:
    trainer = {**CONTROL, **({} if name == "default" else {"X-Session-ID": name})}
    assert divided.http("POST", "/reset", {}, trainer).status == 200
    close = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/close"}
    for request in (
        {**close, "params": {"session_id": name}},
        {**CALL, "params": {"name": "increment", "arguments": {}, "session_id": name}},
    ):
        told = divided.http("POST", "/mcp", request, AGENT).json()
        assert told["error"]["code"] == -32602, told
    state = divided.http("GET", "/state", None, trainer)
    assert (state.status, state.json()["step_count"]) == (200, 0)
