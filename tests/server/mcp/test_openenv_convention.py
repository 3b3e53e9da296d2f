"""OpenEnv's own convention: `tools/*` with `params.session_id` or without, sessions by name."""

from typing import Any

import pytest

from openenv.runtime.limits import Limits
from tests.server.mcp.rpc import ask, call, error, openenv, post, result, told
from tests.server.mcp.worlds import Cold, Shed
from tests.serving import Served, eventually, serving


def created(served: Served) -> str:
    session_id: str = result(openenv(served, "openenv/session/create"))["session_id"]
    return session_id


def counted(served: Served, session_id: str | None = None) -> int:
    params = call("inc", session_id)
    count: int = result(openenv(served, "tools/call", params))["data"]
    return count


def test_a_call_has_a_result_in_both_spellings(any_shed: Served) -> None:
    answer = result(openenv(any_shed, "tools/call", call("add", a=2, b=3)))
    assert answer == {
        "content": [{"type": "text", "text": "5"}],
        "structured_content": {"result": 5},
        "structuredContent": {"result": 5},
        "meta": None,
        "data": 5,
        "is_error": False,
        "isError": False,
        "_meta": {"openenv": {"reward": None, "done": False}},
    }


def test_a_call_tells_of_the_episode(shed: Served) -> None:
    answer = result(openenv(shed, "tools/call", call("win")))
    assert answer["_meta"] == {"openenv": {"reward": 1.0, "done": True}}
    assert answer["data"]["note"] == "won"


def test_without_a_session_each_call_has_an_environment_of_its_own(any_shed: Served) -> None:
    assert [counted(any_shed) for _ in range(3)] == [1, 1, 1]
    assert any_shed.active() == 0


def test_in_a_session_the_state_outlasts_the_call(any_shed: Served) -> None:
    first, second = created(any_shed), created(any_shed)
    any_shed.http("POST", "/reset", {}, {"X-Session-ID": first})
    any_shed.http("POST", "/reset", {}, {"X-Session-ID": second})
    assert [counted(any_shed, first) for _ in range(5)] == [1, 2, 3, 4, 5]
    assert counted(any_shed, second) == 1
    assert any_shed.active() == 2
    for session_id in (first, second):
        closed = result(openenv(any_shed, "openenv/session/close", {"session_id": session_id}))
        assert closed == {"session_id": session_id, "closed": True}
    assert any_shed.active() == 0
    assert error(openenv(any_shed, "tools/call", call("inc", first)))["code"] == -32602


def test_an_episode_begins_with_the_first_call_unless_it_was_reset(shed: Served) -> None:
    session_id = created(shed)
    assert [counted(shed, session_id) for _ in range(2)] == [1, 2]
    shed.http("POST", "/reset", {}, {"X-Session-ID": session_id})
    assert counted(shed, session_id) == 1
    result(openenv(shed, "openenv/session/close", {"session_id": session_id}))


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "words"),
    [
        ("fail", {}, "execution_error", "the shed is on fire"),
        ("nope", {}, "tool_not_found", "nope"),
        ("reset", {}, "tool_not_found", "reset"),
        ("add", {"a": "x"}, "invalid_args", "a: "),
        ("add", {}, "invalid_args", "a: "),
        ("add", {"a": 1, "z": 2}, "invalid_args", "z: "),
    ],
)
def test_a_call_that_fails_is_an_error_with_its_kind(
    any_shed: Served, name: str, arguments: dict[str, Any], kind: str, words: str
) -> None:
    fault = error(openenv(any_shed, "tools/call", call(name, **arguments)))
    assert fault["code"] == -32603
    assert fault["data"]["error_type"] == kind
    assert words in fault["message"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {}),
        ("tools/call", {"name": ""}),
        ("tools/call", {"name": 5}),
        ("tools/call", {"name": "inc", "arguments": [1]}),
        ("tools/call", {"name": "inc", "timeout_s": 0}),
        ("tools/call", {"name": "inc", "timeout_s": "soon"}),
        ("tools/call", {"name": "inc", "timeout_s": True}),
        ("tools/call", {"name": "inc", "_meta": {"openenv": {"timeout_s": -1}}}),
        ("tools/call", {"name": "inc", "session_id": "nobody"}),
        ("tools/call", {"name": "inc", "session_id": 5}),
        ("tools/call", {"name": "inc", "session_id": ""}),
        ("tools/list", {"session_id": "nobody"}),
        ("openenv/session/close", {}),
        ("openenv/session/close", {"session_id": "nobody"}),
        ("openenv/session/close", {"session_id": [1]}),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_made(
    shed: Served, method: str, params: dict[str, Any]
) -> None:
    assert error(openenv(shed, method, params))["code"] == -32602
    assert shed.active() == 0


def test_arguments_may_be_left_out(shed: Served) -> None:
    for params in ({"name": "inc"}, {"name": "inc", "arguments": None, "session_id": None}):
        assert result(openenv(shed, "tools/call", params))["data"] == 1


def test_a_full_server_says_how_full() -> None:
    with serving(Shed, host_kind="thread", max_concurrent_envs=1) as served:
        session_id = created(served)
        for method in ("openenv/session/create", "tools/list", "tools/call"):
            fault = error(openenv(served, method, call("inc")))
            assert fault["code"] == -32000
            assert fault["data"].items() >= {"active_sessions": 1, "max_sessions": 1}.items()
        result(openenv(served, "openenv/session/close", {"session_id": session_id}))
        assert counted(served) == 1


def test_an_environment_that_cannot_be_built_is_named() -> None:
    with serving(Cold, host_kind="thread") as served:
        for method in ("openenv/session/create", "tools/list", "tools/call"):
            fault = error(openenv(served, method, call("inc")))
            assert (fault["code"], fault["data"]["factory_name"]) == (-32000, "Cold")
        eventually(lambda: served.active() == 0)


def test_a_session_that_nobody_calls_ends() -> None:
    with serving(Shed, host_kind="thread", limits=Limits(unattached_timeout=0.2)) as served:
        session_id = created(served)
        eventually(lambda: served.active() == 0)
        assert error(openenv(served, "tools/call", call("inc", session_id)))["code"] == -32602


def test_a_hung_tool_times_out_and_its_session_lives(any_shed: Served) -> None:
    session_id = created(any_shed)
    any_shed.http("POST", "/reset", {}, {"X-Session-ID": session_id})
    params = call("nap", session_id, seconds=20) | {"timeout_s": 0.2}
    fault = error(openenv(any_shed, "tools/call", params))
    assert fault["data"]["error_type"] == "timeout"
    assert "timed out after 0.2 s" in fault["message"]
    assert counted(any_shed, session_id) == 1
    result(openenv(any_shed, "openenv/session/close", {"session_id": session_id}))


def test_the_servers_limit_holds_unless_the_caller_knows_better() -> None:
    limits = Limits(tool_timeout=0.2)
    with serving(Shed, host_kind="thread", limits=limits) as served:
        late = error(openenv(served, "tools/call", call("wait", seconds=20)))
        assert late["data"]["error_type"] == "timeout"
        patient = call("wait", seconds=0.4) | {"timeout_s": 20}
        assert result(openenv(served, "tools/call", patient))["data"] == "awake"


def test_a_request_without_an_id_is_answered_as_ever(shed: Served) -> None:
    answer = told(post(shed, ask("tools/call", call("inc"), id=None)))
    assert answer["id"] is None
    assert result(answer)["data"] == 1


def test_a_notification_is_taken_silently(shed: Served) -> None:
    answer = post(shed, ask("notifications/initialized", id=None))
    assert (answer.status, answer.body) == (202, b"")
