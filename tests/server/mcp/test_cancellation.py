"""Calls that nobody waits for any more."""

import asyncio
import json
import socket
from typing import Any

from tests.server.mcp.rpc import (
    EVENTS,
    HELLO,
    SESSION,
    SESSIONLESS,
    VERSION,
    Agent,
    ask,
    call,
    error,
    post,
    result,
    told,
)
from tests.server.mcp.worlds import Shed
from tests.serving import Served, eventually, serving

NAP = call("nap", seconds=50)


def send(served: Served, asked: Any, headers: dict[str, str], busy: int = 1) -> socket.socket:
    """A POST whose answer is not waited for; when it returns, so many sessions are busy."""
    body = json.dumps(asked).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    connection = socket.create_connection(("127.0.0.1", served.port), 30)
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
    eventually(lambda: served.openenv.sessions.busy == busy)
    return connection


def test_a_stateless_call_ends_with_its_caller(any_shed: Served) -> None:
    for headers in ({}, EVENTS, EVENTS | {VERSION: SESSIONLESS}):
        with send(any_shed, ask("tools/call", NAP), headers):
            pass
        eventually(lambda: any_shed.active() == 0)


def test_a_stream_ends_with_its_caller_where_that_cancels(any_shed: Served) -> None:
    wanted = NAP | {"_meta": {"progressToken": 1}}
    with send(any_shed, ask("tools/call", wanted), EVENTS | {VERSION: SESSIONLESS}):
        pass
    eventually(lambda: any_shed.active() == 0)


def test_a_session_that_nobody_awaits_is_not_begun() -> None:
    class Slow(Shed):
        async def reset_async(self, *args: Any, **kwargs: Any) -> Any:
            await asyncio.Event().wait()

    with serving(Slow, host_kind="inline") as served:
        with send(served, ask("initialize", HELLO), EVENTS):
            pass
        eventually(lambda: served.active() == 0)


def test_in_a_session_who_leaves_is_no_canceller(any_shed: Served) -> None:
    agent = Agent(any_shed)
    with send(any_shed, ask("tools/call", call("nap", seconds=0.3)), agent.headers):
        pass
    assert agent.call("inc")["structuredContent"] == {"result": 101}
    agent.leave()


def test_a_notice_cancels_the_call_it_names_and_no_other(any_shed: Served) -> None:
    agent = Agent(any_shed)
    with send(any_shed, ask("tools/call", NAP, id="slow"), agent.headers) as waiting:
        for params in ({"requestId": "other"}, {"requestId": [1]}, {}, {"requestId": 1}):
            told_so = agent.post(ask("notifications/cancelled", params, id=None))
            assert (told_so.status, told_so.body) == (202, b"")
        assert any_shed.openenv.sessions.busy == 1
        stranger = Agent(any_shed)
        stranger.post(ask("notifications/cancelled", {"requestId": "slow"}, id=None))
        stranger.leave()
        assert any_shed.openenv.sessions.busy == 1
        agent.post(ask("notifications/cancelled", {"requestId": "slow"}, id=None))
        assert b"cancelled" in waiting.recv(65536)
    assert agent.call("inc")["structuredContent"] == {"result": 1}
    agent.leave()


def test_a_session_that_is_deleted_answers_what_runs(any_shed: Served) -> None:
    agent = Agent(any_shed)
    with send(any_shed, ask("tools/call", NAP), agent.headers) as waiting:
        assert agent.leave().status == 204
        assert b"cancelled" in waiting.recv(65536)
    eventually(lambda: any_shed.active() == 0)


def test_one_session_queues_only_so_many() -> None:
    with serving(Shed, host_kind="thread") as served:
        agent = Agent(served)
        waiting = [
            send(served, ask("tools/call", NAP, id=number), agent.headers) for number in range(64)
        ]
        answer = agent.post(ask("tools/call", call("inc")))
        assert error(told(answer))["code"] == -32000
        agent.leave()
        for connection in waiting:
            connection.close()
        eventually(lambda: served.active() == 0)


def test_a_server_that_ends_answers_what_hangs() -> None:
    from openenv.runtime.limits import Limits

    with serving(Shed, host_kind="process", limits=Limits(drain_grace=0.2)) as served:
        agent = Agent(served)
        session = send(served, ask("tools/call", NAP), agent.headers)
        stateless = send(served, ask("tools/call", NAP), {}, busy=2)
        served.server.should_exit = True
        for connection in (session, stateless):
            with connection:
                assert b"cancelled" in connection.recv(65536)


def test_a_call_that_was_cancelled_frees_the_tool(any_shed: Served) -> None:
    answer = post(any_shed, ask("tools/call", NAP | {"timeout_s": 0.2}))
    assert error(told(answer))["data"]["error_type"] == "timeout"
    eventually(lambda: any_shed.active() == 0)
    assert result(told(post(any_shed, ask("tools/call", call("inc")))))["data"] == 1
    assert SESSION.lower() not in answer.headers
