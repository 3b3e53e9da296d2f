"""Servers of tools that break the rules: every fault is typed, and what could live lives."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.server import ServerConnection

from openenv import (
    EnvironmentFactoryError,
    EnvironmentFailed,
    NoTools,
    ProtocolError,
    ReplyTimeout,
    SessionCapacityError,
    SessionError,
    SessionLost,
)
from openenv.client.tools import MCPToolClient, ToolCallFailed
from tests.client.peers import replying, scripted
from tests.client.ways import Ask, talking
from tests.client.worlds import PATIENCE_S

CREATED = {"session_id": "s1"}
DONE = {"content": [], "structured_content": {"result": 1}, "data": 1, "is_error": False}


def result(value: Any, ident: int) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "result": value})


def error(code: int, message: str, ident: int | None, data: Any = None) -> str:
    told = {"code": code, "message": message, "data": data}
    return json.dumps({"jsonrpc": "2.0", "id": ident, "error": told})


@contextmanager
def answering(*frames: str | bytes) -> Iterator[str]:
    """A server that opens a session, and answers each further request with the next frame."""
    with scripted(replying(result(CREATED, 1), *frames)) as url:
        yield url


def caught(colour: str, url: str, call: Callable[[Any], Any], kind: type[Exception]) -> Exception:
    """The error of a call, after which the client closes in peace."""

    async def talk(client: Any, ask: Ask) -> Exception:
        with pytest.raises(kind) as raised:
            await ask(call(client))
        return raised.value

    return talking(colour, talk, MCPToolClient(base_url=url))


@pytest.mark.parametrize(
    "frame",
    [
        "{nonsense",
        "[1, 2]",
        b"\xff\xfe",
        result({"tools": []}, 7),
        result(None, 2),
        result([], 2),
        '{"jsonrpc":"2.0","id":2,"error":"bad"}',
        result({}, 2),
        result({"tools": {"add": {}}}, 2),
        result({"tools": ["add"]}, 2),
        result({"tools": [{"description": "without a name"}]}, 2),
        result({"tools": [{"name": 5}]}, 2),
        result({"tools": [{"name": "add", "inputSchema": []}, {"name": "b", "inputSchema": 3}]}, 2),
    ],
)
def test_what_is_no_list_of_tools(colour: str, frame: str | bytes) -> None:
    with answering(frame) as url:
        told = caught(colour, url, lambda client: client.list_tools(), ProtocolError)
        assert "the server" in str(told)


def test_what_is_not_said_of_a_tool_is_empty(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        tools = await ask(client.list_tools())
        assert [(tool.description, tool.input_schema) for tool in tools] == [("", {})] * 2

    listed = [{"name": "one", "description": None, "inputSchema": None}, {"name": "two", "new": 1}]
    with answering(result({"tools": listed}, 2)) as url:
        talking(colour, talk, MCPToolClient(base_url=url))


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (DONE, 1),
        ({"content": [], "data": None, "structured_content": None}, None),
        ({"content": [{"type": "text", "text": "hi"}], "data": None}, "hi"),
        ({"content": [{"type": "text", "text": "hi"}], "structuredContent": {"a": 1}}, {"a": 1}),
        ({"content": [{"type": "text", "text": "hi"}] * 2, "data": None}, "hi\nhi"),
        ({"content": [], "data": None, "structured_content": {"result": None}}, None),
        ({"content": [], "data": None, "structured_content": {"a": None}}, {"a": None}),
        ({"content": [], "data": {"result": None}, "structured_content": {}}, {"result": None}),
        ({"content": [{"type": "image"}], "data": None}, [{"type": "image"}]),
        ({"content": [5], "_meta": "odd"}, [5]),
        ({"content": "text", "_meta": {"openenv": []}}, "text"),
        ({"unheard": "of"}, {"unheard": "of"}),
    ],
)
def test_results_of_all_manners(given: dict[str, Any], value: Any) -> None:
    with answering(result(given, 2)) as url, MCPToolClient(base_url=url).sync() as client:
        assert client.call_tool("add") == value


@pytest.mark.parametrize(
    ("frame", "error_type"),
    [
        (error(-32603, "Error calling tool 'add': broken", 2), "execution_error"),
        (error(-32603, "Unknown tool: 'add'", 2), "tool_not_found"),
        (error(-32603, "2 validation errors for call[add]\na\n  missing", 2), "invalid_args"),
        (error(-32603, "slow", 2, {"error_type": "timeout", "message": "slow"}), "timeout"),
        ('{"jsonrpc":"2.0","id":2,"error":{"code":-32603}}', "execution_error"),
        (result({"content": [{"type": "text", "text": "no"}], "isError": True}, 2), None),
        (result({"content": [], "is_error": True}, 2), None),
    ],
)
def test_failed_calls_of_all_manners(frame: str, error_type: str | None) -> None:
    with answering(frame, result(DONE, 3)) as url, MCPToolClient(base_url=url).sync() as client:
        with pytest.raises(ToolCallFailed, match="^Tool 'add' failed: ") as failed:
            client.call_tool("add")
        assert failed.value.error_type == (error_type or "execution_error")
        assert client.call_tool("add") == 1


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (error(-32603, "Environment does not support MCP", 2), NoTools),
        (error(-32603, "broken", 2, {"code": "EXECUTION_ERROR"}), EnvironmentFailed),
        (error(-32602, "Unknown session_id: s1", 2, {"code": "SESSION_ERROR"}), SessionError),
    ],
)
def test_errors_that_are_of_no_tool(colour: str, frame: str, kind: type[Exception]) -> None:
    with answering(frame) as url:
        caught(colour, url, lambda client: client.call_tool("add"), kind)


FULL = error(-32000, "Server at capacity: 2/2", None, {"active_sessions": 2, "max_sessions": 2})
FAULTY = error(-32000, "Environment factory failed", None, {"factory_name": "Shop"})


@pytest.mark.parametrize("asked", [True, False], ids=["when asked", "uninvited"])
@pytest.mark.parametrize(
    ("frame", "kind"), [(FULL, SessionCapacityError), (FAULTY, EnvironmentFactoryError)]
)
def test_a_refused_session(colour: str, frame: str, kind: type[Exception], asked: bool) -> None:
    def refuse(connection: ServerConnection) -> None:
        if asked:
            connection.recv(PATIENCE_S)
        connection.send(frame)
        connection.close()

    with scripted(refuse) as url:
        caught(colour, url, lambda client: client.list_tools(), kind)


@pytest.mark.parametrize("created", [{}, {"session_id": None}, {"session_id": 5}])
def test_a_session_without_a_name(colour: str, created: dict[str, Any]) -> None:
    with scripted(replying(result(created, 1))) as url:
        caught(colour, url, lambda client: client.list_tools(), ProtocolError)


def test_a_server_that_leaves_during_a_call(colour: str) -> None:
    def leave(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(result(CREATED, 1))
        connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        for _ in range(2):
            with pytest.raises(SessionLost):
                await ask(client.call_tool("add"))
        await ask(client.connect())
        with pytest.raises(SessionLost):
            await ask(client.call_tool("add"))

    with scripted(leave) as url:
        talking(colour, talk, MCPToolClient(base_url=url))


def test_a_server_that_says_nothing(colour: str) -> None:
    def fall_silent(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(result(CREATED, 1))
        while True:
            connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        await ask(client.connect())
        for _ in range(2):
            with pytest.raises(ReplyTimeout):
                await ask(client.call_tool("add"))

    with scripted(fall_silent) as url:
        talking(colour, talk, MCPToolClient(base_url=url, message_timeout_s=0.5))


@pytest.mark.parametrize(
    "data",
    [
        {"observation": {}, "reward": None, "done": False},
        {"observation": {"tool_name": "add", "error": "bad"}, "done": False},
        {"observation": {"tool_name": "add", "result": 1, "more": 2}, "done": False},
        {"observation": {"tools": "none"}},
    ],
)
def test_what_is_no_result_of_a_tool_on_the_road_of_trainers(data: dict[str, Any]) -> None:
    frame = json.dumps({"type": "observation", "data": data})
    with scripted(replying(frame)) as url:
        client = MCPToolClient(base_url=url, mode="simulation")
        with client, pytest.raises(ProtocolError, match="the server"):
            client.call_tool("add")


def test_a_late_answer_is_taken_for_no_other(colour: str) -> None:
    answered = threading.Event()
    seen: list[Any] = []

    def dawdle(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(result(CREATED, 1))
        connection.recv(PATIENCE_S)
        answered.wait(PATIENCE_S)
        connection.send(result({"data": "late", "content": []}, 2))
        for _ in range(2):
            seen.append(json.loads(connection.recv(PATIENCE_S)))
        notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
        connection.send(json.dumps(notice))
        connection.send(error(-32601, "Method not found: notifications/cancelled", None))
        connection.send(result({"data": "in time", "content": []}, 3))
        connection.recv(PATIENCE_S)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ReplyTimeout):
            await ask(client.call_tool("add"))
        answered.set()
        assert await ask(client.call_tool("add")) == "in time"

    with scripted(dawdle) as url:
        talking(colour, talk, MCPToolClient(base_url=url, message_timeout_s=1.0))
    assert seen[0]["method"] == "notifications/cancelled"
    assert (seen[0]["params"], seen[1]["id"]) == ({"requestId": 2}, 3)
