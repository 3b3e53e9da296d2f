"""Calls of tools over a socket, on each kind of host, of both kinds of environments."""

import base64
from collections.abc import Iterator
from typing import Any, cast

import mcp
import pytest

from openenv.env.environment import HostKind
from openenv.runtime.limits import Limits
from tests.serving import Served as Server
from tests.serving import Socket, serving
from tests.tools.worlds import BLOB, GATE, PNG, RAISED, WAV, Decorated, Served

pytestmark = pytest.mark.timeout(120)

HOSTS: tuple[HostKind, ...] = ("inline", "thread", "process")
WORLDS = {"decorated": Decorated, "fastmcp": Served}
LIMITS = Limits(max_message_bytes=32 << 20)


@pytest.fixture(scope="module", params=[(w, h) for w in WORLDS for h in HOSTS], ids="-".join)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    world, host = request.param
    with serving(WORLDS[world], host_kind=host, limits=LIMITS) as served:
        yield served


@pytest.fixture
def socket(server: Server) -> Iterator[Socket]:
    with server.socket(max_size=None) as socket:
        socket.reset()
        yield socket


@pytest.fixture(scope="module", params=HOSTS)
def decorated(request: pytest.FixtureRequest) -> Iterator[Server]:
    with serving(Decorated, host_kind=request.param, limits=LIMITS) as served:
        yield served


def called(socket: Socket, tool: str, **arguments: Any) -> dict[str, Any]:
    """The observation of a call."""
    told = socket.step(type="call_tool", tool_name=tool, arguments=arguments)
    assert told["observation"]["tool_name"] == tool
    return cast(dict[str, Any], told["observation"])


def result(socket: Socket, tool: str, **arguments: Any) -> Any:
    seen = called(socket, tool, **arguments)
    assert seen["error"] is None, seen
    return seen["result"]


def error(socket: Socket, tool: str, **arguments: Any) -> tuple[str, str]:
    seen = called(socket, tool, **arguments)
    assert seen["result"] is None
    return seen["error"]["error_type"], seen["error"]["message"]


def test_they_are_listed_with_schemas(socket: Socket) -> None:
    told = socket.step(type="list_tools")["observation"]["tools"]
    tools = {tool["name"]: tool for tool in told}
    assert "rehearse" in tools
    assert "perform" not in tools
    assert tools["add"]["description"] == "Adds two numbers."
    assert tools["add"]["input_schema"]["required"] == ["a", "b"]
    assert tools["add"]["input_schema"]["properties"]["a"]["type"] == "integer"
    assert tools["progress"]["input_schema"]["properties"].keys() == {"steps"}


def test_state_lasts_for_the_session(server: Server, socket: Socket) -> None:
    assert [result(socket, "increment", by=2)["data"] for _ in range(3)] == [2, 4, 6]
    with server.socket() as other:
        other.reset()
        assert result(other, "increment")["data"] == 1


def test_a_result_is_plain(socket: Socket) -> None:
    told = result(socket, "add", a=5, b=1)
    assert told["content"] == [{"type": "text", "text": "6"}]
    assert told["structured_content"] == {"result": 6}
    assert (told["data"], told["is_error"]) == (6, False)


MISFITS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["a:", "b:"]),
    ({"a": 1, "b": "two"}, ["b:"]),
    ({"a": 1, "b": 2, "c": 3}, ["c:"]),
    ({"a": None, "b": 2}, ["a:"]),
]


def test_arguments_that_do_not_fit_are_named(socket: Socket) -> None:
    for arguments, names in MISFITS:
        kind, message = error(socket, "add", **arguments)
        assert kind == "invalid_args"
        assert all(name in message for name in names), message
    assert result(socket, "add", a=1, b=1)["data"] == 2


def test_there_is_no_such_tool(socket: Socket) -> None:
    for tool in (
        "nope",
        "",
        "reset",
        "step",
        "state",
        "close",
        "perform",
        "__init__",
        "_step_impl",
    ):
        assert error(socket, tool)[0] == "tool_not_found"
    assert result(socket, "add", a=1, b=1)["data"] == 2


@pytest.mark.expects_error_log  # of FastMCP's own
def test_what_a_tool_raises_is_the_agents_to_read(socket: Socket) -> None:
    for count, kind in enumerate(RAISED):
        told, message = error(socket, "fail", kind=kind)
        assert told == "execution_error"
        assert kind in message
        assert result(socket, "increment", by=1)["data"] == count + 1


@pytest.mark.expects_error_log
def test_a_refusal_is_told_as_it_is(socket: Socket) -> None:
    assert error(socket, "refuse") == ("execution_error", "not today")


@pytest.mark.parametrize("host", ["inline", "thread"])
@pytest.mark.parametrize("world", WORLDS)
def test_a_blocking_tool_keeps_nobody_else_waiting(world: str, host: HostKind) -> None:
    GATE.clear()
    with serving(WORLDS[world], host_kind=host) as server, server.socket() as socket:
        socket.reset()
        socket.send({"type": "step", "data": {"type": "call_tool", "tool_name": "hold"}})
        assert server.health()["status"] == "healthy"
        with server.socket() as other:
            other.reset()
            assert result(other, "add", a=1, b=1)["data"] == 2
        GATE.set()
        assert socket.receive()["data"]["observation"]["result"]["data"] == "let go"


def test_what_a_tool_prints_is_nobodys_answer(socket: Socket) -> None:
    assert result(socket, "shout")["data"] == "shouted"


def test_arguments_may_have_any_name(decorated: Server) -> None:
    names = ["tool", "name", "arguments", "mode", "context", "kwargs"]
    with decorated.socket() as socket:
        socket.reset()
        given = {name: number for number, name in enumerate(names)}
        told = socket.step(type="call_tool", tool_name="named", arguments=given)
        assert told["observation"]["result"]["data"] == [0, 1, 2, 3, 4, 5]


PLAIN: dict[str, Any] = {
    "nothing": None,
    "nan": "NaN",
    "large": "x" * 10_000_000,
    "model": {"x": 1, "y": 0.0},
    "dataclass": {"left": 1, "right": "b"},
    "array": [[1, 2], [3, 4]],
    "number": 0.5,
    "tuple": [1, "b"],
}


def test_values_of_any_kind(decorated: Server) -> None:
    with decorated.socket(max_size=None) as socket:
        socket.reset()
        for which, plain in PLAIN.items():
            assert result(socket, "value", which=which)["data"] == plain


@pytest.mark.parametrize(
    ("kind", "block"),
    [
        ("png", {"type": "image", "mimeType": "image/png", "data": PNG}),
        ("wav", {"type": "audio", "mimeType": "audio/wav", "data": WAV}),
        ("blob", {"type": "resource", "data": BLOB}),
    ],
)
def test_bytes_are_blocks_of_content(decorated: Server, kind: str, block: dict[str, Any]) -> None:
    with decorated.socket() as socket:
        socket.reset()
        [told] = result(socket, "picture", kind=kind)["content"]
    assert told["type"] == block["type"]
    encoded = told["data"] if kind != "blob" else told["resource"]["blob"]
    assert base64.b64decode(encoded) == block["data"]


@pytest.mark.parametrize("tool", ["unsendable", "generator"])
def test_what_cannot_be_sent_is_an_error(decorated: Server, tool: str) -> None:
    with decorated.socket() as socket:
        socket.reset()
        assert error(socket, tool)[0] == "execution_error"
        assert result(socket, "increment")["data"] == 1


async def test_progress_comes_to_clients_of_mcp(server: Server) -> None:
    reports: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with mcp.Client(f"http://127.0.0.1:{server.port}/mcp") as agent:
        told = await agent.call_tool("progress", {"steps": 3}, progress_callback=note)
    assert told.structured_content == {"result": "arrived"}
    assert reports == [(n, 3, f"step {n}") for n in (1, 2, 3)]
