"""`WS /mcp`, `mcp` frames on `/ws`, and sockets attached to a session by its id."""

import json
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from openenv.runtime.limits import Limits
from tests.server.mcp.rpc import (
    HELLO,
    LATEST,
    Agent,
    ask,
    call,
    error,
    framed,
    line,
    openenv,
    result,
)
from tests.server.mcp.worlds import Cold, Shed
from tests.serving import Served, eventually, serving


def created(served: Served) -> str:
    session_id: str = result(openenv(served, "openenv/session/create"))["session_id"]
    return session_id


def count_of(response: dict[str, Any]) -> int:
    count: int = result(response)["data"]
    return count


def step_inc(socket: Any) -> int:
    observation = socket.step(type="call_tool", tool_name="inc")["observation"]
    count: int = observation["result"]["data"]
    return count


def test_a_line_is_a_session_and_its_episode_has_begun(any_shed: Served) -> None:
    with line(any_shed) as first, line(any_shed) as second:
        assert [count_of(first.ask("tools/call", call("inc"))) for _ in range(5)] == [1, 2, 3, 4, 5]
        assert count_of(second.ask("tools/call", call("inc"))) == 1
        assert any_shed.active() == 2
    eventually(lambda: any_shed.active() == 0)


def test_a_line_is_cut_when_its_client_wants(shed: Served) -> None:
    with line(shed) as agent:
        session_id = result(agent.ask("openenv/session/create"))["session_id"]
        own = {"session_id": session_id}
        assert error(agent.ask("openenv/session/close", own))["code"] == -32600
        assert error(agent.ask("openenv/session/close", {"session_id": "x"}))["code"] == -32602
        assert count_of(agent.ask("tools/call", call("inc", session_id))) == 1
        assert result(agent.ask("openenv/socket/close")) == {"closed": True}
        assert shed.active() == 0
        with pytest.raises(ConnectionClosed):
            agent.receive()
        assert agent.socket.connection.close_code == 1000


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", -32700),
        ("", -32700),
        ("[]", -32700),
        (json.dumps([ask("ping")]), -32700),
        (b"{}", -32700),
        (b"\x00", -32700),
        ("5", -32700),
        ("{}", -32600),
        (ask("tools/list", jsonrpc="1.0"), -32600),
        (ask("tools/list", id=1.5), -32600),
        (ask("tools/list") | {"params": [1]}, -32600),
        (ask("ping"), -32601),
        (ask("tools/call"), -32602),
    ],
)
def test_a_bad_frame_ends_no_session(shed: Served, frame: Any, code: int) -> None:
    with line(shed) as agent:
        assert count_of(agent.ask("tools/call", call("inc"))) == 1
        agent.send(frame)
        assert error(agent.receive())["code"] == code
        assert count_of(agent.ask("tools/call", call("inc"))) == 2


def test_requests_without_waiting_are_answered_in_turn(any_shed: Served) -> None:
    with line(any_shed) as agent:
        for number in range(100):
            agent.send(ask("tools/call", call("inc"), id=number))
        answers = [agent.receive() for _ in range(100)]
        assert [answer["id"] for answer in answers] == list(range(100))
        assert [count_of(answer) for answer in answers] == list(range(1, 101))


def test_a_line_may_speak_mcp(any_shed: Served) -> None:
    with line(any_shed) as agent:
        welcome = result(agent.ask("initialize", HELLO))
        assert welcome["protocolVersion"] == LATEST
        agent.send(ask("notifications/initialized", id=None))
        assert result(agent.ask("ping")) == {}
        answer = result(agent.ask("tools/call", call("inc")))
        assert answer["structuredContent"] == {"result": 1}
        assert "data" not in answer
        agent.send(ask("tools/call", call("crawl", steps=2) | {"_meta": {"progressToken": 9}}))
        steps = [agent.receive()["params"]["progress"] for _ in range(2)]
        assert steps == [1, 2]
        assert result(agent.receive())["content"][0]["text"] == "arrived"


def test_a_call_on_a_line_is_cancelled_by_name(any_shed: Served) -> None:
    with line(any_shed) as agent:
        agent.send(ask("tools/call", call("nap", seconds=50), id="slow"))
        agent.send(ask("tools/call", call("inc"), id="next"))
        agent.send(ask("notifications/cancelled", {"requestId": "slow"}, id=None))
        gone, following = agent.receive(), agent.receive()
        assert gone["id"] == "slow"
        assert "cancelled" in error(gone)["message"].lower()
        assert (following["id"], count_of(following)) == ("next", 1)


def test_who_leaves_in_the_middle_of_a_call_leaves_nothing(any_shed: Served) -> None:
    with line(any_shed) as agent:
        agent.send(ask("tools/call", call("nap", seconds=50)))
        eventually(lambda: any_shed.openenv.sessions.busy == 1)
    eventually(lambda: any_shed.active() == 0)


def test_what_stands_in_the_way_of_a_line_is_told() -> None:
    with serving(Shed, host_kind="thread", max_concurrent_envs=1) as served:
        with line(served), line(served) as late:
            fault = error(late.receive())
            assert (fault["code"], fault["data"]["max_sessions"]) == (-32000, 1)
            with pytest.raises(ConnectionClosed):
                late.receive()
            assert late.socket.connection.close_code == 1000
        eventually(lambda: served.active() == 0)
    with serving(Cold, host_kind="thread") as served, line(served) as agent:
        assert error(agent.receive())["code"] == -32000


def test_frames_are_of_the_sockets_session(any_shed: Served) -> None:
    with any_shed.socket() as socket:
        socket.reset()
        assert step_inc(socket) == 1
        answer = framed(socket, "tools/call", call("inc"))
        assert (count_of(answer), step_inc(socket)) == (2, 3)
        own = result(framed(socket, "openenv/session/create"))
        assert framed(socket, "openenv/session/close", own)["error"]["code"] == -32600
        assert result(framed(socket, "tools/list"))["tools"]
        assert framed(socket, "initialize", HELLO)["error"]["code"] == -32601
        assert count_of(openenv(any_shed, "tools/call", call("inc", own["session_id"]))) == 4


@pytest.mark.parametrize("data", [None, [], "x", 5])
def test_a_frame_needs_an_object(shed: Served, data: Any) -> None:
    with shed.socket() as socket:
        assert socket.refused({"type": "mcp", "data": data})["code"] == "VALIDATION_ERROR"
        assert socket.refused({"type": "mcp"})["code"] == "VALIDATION_ERROR"
        assert socket.refused({"type": "mcp", "data": {}, "x": 1})["code"] == "VALIDATION_ERROR"
        assert socket.ask({"type": "mcp", "data": {}})["data"]["error"]["code"] == -32600


def test_a_socket_joins_a_session_and_leaves_it(any_shed: Served) -> None:
    session_id = created(any_shed)
    for total in (3, 6):
        with any_shed.socket(f"/ws?session_id={session_id}") as socket:
            if total == 3:
                socket.reset()
            assert result(framed(socket, "openenv/session/create"))["session_id"] == session_id
            assert step_inc(socket) == total - 2
            assert count_of(openenv(any_shed, "tools/call", call("inc", session_id))) == total - 1
            assert step_inc(socket) == total
            with any_shed.socket(f"/ws?session_id={session_id}") as second:
                fault = second.receive()
                assert fault["data"]["code"] == "SESSION_ERROR"
                assert "already has an attached WebSocket" in fault["data"]["message"]
                assert second.closed() == 1000
            socket.send({"type": "close"})
            assert socket.closed() == 1000
        assert any_shed.active() == 1
    closed = result(openenv(any_shed, "openenv/session/close", {"session_id": session_id}))
    assert closed["closed"] is True
    assert any_shed.active() == 0


def test_a_session_that_is_closed_while_a_socket_is_there_ends_with_it(shed: Served) -> None:
    session_id = created(shed)
    with shed.socket(f"/ws?session_id={session_id}") as socket:
        socket.reset()
        closing = result(openenv(shed, "openenv/session/close", {"session_id": session_id}))
        assert closing == {"session_id": session_id, "closed": False, "closing": True}
        assert step_inc(socket) == 1
    eventually(lambda: shed.active() == 0)
    assert error(openenv(shed, "tools/list", {"session_id": session_id}))["code"] == -32602


def test_a_socket_joins_what_a_line_or_an_agent_began(any_shed: Served) -> None:
    with line(any_shed) as agent:
        session_id = result(agent.ask("openenv/session/create"))["session_id"]
        assert count_of(agent.ask("tools/call", call("inc"))) == 1
        with any_shed.socket(f"/ws?session_id={session_id}") as socket:
            assert step_inc(socket) == 2
            assert socket.state()["step_count"] == 2
        assert count_of(agent.ask("tools/call", call("inc"))) == 3
    eventually(lambda: any_shed.active() == 0)
    owner = Agent(any_shed)
    with any_shed.socket(f"/ws?session_id={owner.session_id}") as socket:
        assert step_inc(socket) == 1
    assert owner.call("inc")["structuredContent"] == {"result": 2}
    owner.leave()


def test_a_socket_joins_nothing_else(shed: Served) -> None:
    with shed.socket() as trainer:
        trainer.reset()
        own = result(framed(trainer, "openenv/session/create"))["session_id"]
        for session_id in ("nobody", "", own):
            with shed.socket(f"/ws?session_id={session_id}") as socket:
                refusal = socket.receive() if session_id else socket.ask({"type": "state"})
                if session_id:
                    assert refusal["data"]["code"] == "SESSION_ERROR"
                    assert socket.closed() == 1000


def test_roads_to_one_session_take_turns(any_shed: Served) -> None:
    session_id = created(any_shed)
    with any_shed.socket(f"/ws?session_id={session_id}") as socket:
        socket.reset()
        slow = {"type": "call_tool", "tool_name": "wait", "arguments": {"seconds": 0.3}}
        socket.send({"type": "step", "data": slow})
        eventually(lambda: any_shed.openenv.sessions.busy == 1)
        assert count_of(openenv(any_shed, "tools/call", call("inc", session_id))) == 1
        socket.send({"type": "step", "data": {"type": "call_tool", "tool_name": "inc"}})
        slept, counted = socket.receive(), socket.receive()
        assert slept["data"]["observation"]["result"]["data"] == "awake"
        assert counted["data"]["observation"]["result"]["data"] == 2
    openenv(any_shed, "openenv/session/close", {"session_id": session_id})


def test_an_attached_session_waits_for_its_idle_socket_and_no_longer() -> None:
    limits = Limits(unattached_timeout=0.3)
    with serving(Shed, host_kind="thread", limits=limits) as served:
        session_id = created(served)
        with served.socket(f"/ws?session_id={session_id}") as socket:
            socket.reset()
            eventually(lambda: created(served), 5)
            assert step_inc(socket) == 1
        eventually(lambda: served.active() == 0)
