"""MCP's own convention: sessions by `initialize`, said by hand."""

import json
from typing import Any

import pytest

from openenv.runtime.limits import Limits
from tests.server.mcp.rpc import (
    EVENTS,
    HELLO,
    LATEST,
    SESSION,
    SESSIONLESS,
    VERSION,
    Agent,
    ask,
    call,
    error,
    line,
    post,
    result,
    told,
)
from tests.server.mcp.worlds import Cold, Noted, Shed
from tests.serving import Served, eventually, serving

PINNED = EVENTS | {VERSION: SESSIONLESS}


def events(body: bytes) -> list[dict[str, Any]]:
    """The messages of a stream that has ended."""
    lines = [line for line in body.decode().splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def text_of(answer: dict[str, Any]) -> str:
    text: str = answer["content"][0]["text"]
    return text


def test_a_session_is_an_environment(any_shed: Served) -> None:
    first, second = Agent(any_shed), Agent(any_shed)
    assert any_shed.active() == 2
    counts = [first.call("inc")["structuredContent"]["result"] for _ in range(5)]
    assert counts == [1, 2, 3, 4, 5]
    assert text_of(second.call("inc")) == "1"
    for agent in (first, second):
        gone = agent.leave()
        assert (gone.status, gone.body) == (204, b"")
    assert any_shed.active() == 0
    fault = error(told(first.post(ask("tools/list")), 404))
    assert "initialize" in fault["message"]
    assert first.leave().status == 404


@pytest.mark.parametrize(
    ("offered", "agreed"),
    [
        *((version, version) for version in ("2024-11-05", "2025-03-26", "2025-06-18", LATEST)),
        ("2026-07-28", LATEST),
        ("1999-01-01", LATEST),
        ("", LATEST),
    ],
)
def test_a_revision_is_agreed_on(shed: Served, offered: str, agreed: str) -> None:
    agent = Agent(shed, offered)
    assert agent.welcome["protocolVersion"] == agreed
    assert agent.welcome["capabilities"] == {"tools": {"listChanged": False}}
    assert agent.welcome["serverInfo"]["name"] == "Shed"
    assert agent.ask("ping")["result"] == {}
    agent.leave()


def test_the_end_of_a_session_closes_its_environment() -> None:
    class Tidy(Shed):
        closed = 0

        def close(self) -> None:
            Tidy.closed += 1

    with serving(Tidy, host_kind="thread") as served:
        agent = Agent(served)
        assert Tidy.closed == 0
        agent.leave()
        assert Tidy.closed == 1


def test_an_agent_is_told_what_a_reset_shows(any_shed: Served) -> None:
    agent = Agent(any_shed)
    assert agent.welcome["instructions"].endswith('first observation: {"note":"ready"}')
    agent.leave()


def test_what_says_nothing_or_too_much_is_left_out() -> None:
    class Quiet(Shed):
        note = ""

        def reset(self, seed: int | None = None, **kwargs: Any) -> Noted:
            return Noted(note=self.note, metadata={"answer": 42})

    class Chatty(Quiet):
        note = "x" * 20_000

    for made in (Quiet, Chatty):
        with serving(made, host_kind="inline") as served:
            agent = Agent(served)
            assert "first observation" not in agent.welcome.get("instructions", "")
            agent.leave()


def test_of_several_processes_none_begins_a_session_over_http(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENENV_WORKERS", "2")
    with serving(Shed, host_kind="inline") as served:
        begun = post(served, ask("initialize", HELLO), EVENTS)
        made = post(served, ask("openenv/session/create"))
        for answer in (begun, made):
            assert "--workers 1" in error(told(answer))["message"]
        assert text_of(result(told(post(served, ask("tools/call", call("inc")), EVENTS)))) == "1"
        with line(served) as agent:
            assert result(agent.ask("tools/call", call("inc")))["data"] == 1


def test_results_are_strict(shed: Served) -> None:
    agent = Agent(shed)
    meta = {"_meta": {"openenv": {"reward": None, "done": False}}}
    assert agent.call("add", a=1) == {
        "content": [{"type": "text", "text": "2"}],
        "structuredContent": {"result": 2},
        "isError": False,
        **meta,
    }
    assert agent.call("undocumented") == {"content": [], "isError": False, **meta}
    [picture] = agent.call("show")["content"]
    assert (picture["type"], picture["mimeType"]) == ("image", "image/png")
    agent.leave()


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("fail", {}, "the shed is on fire"),
        ("add", {"a": "x"}, "a: "),
        ("add", {}, "a: "),
        ("add", {"a": 1, "z": 2}, "z: "),
    ],
)
def test_what_a_tool_does_wrong_is_for_the_agent_to_read(
    shed: Served, name: str, arguments: dict[str, Any], words: str
) -> None:
    agent = Agent(shed)
    answer = agent.call(name, **arguments)
    assert answer["isError"] is True
    assert words in text_of(answer)
    assert text_of(agent.call("inc")) == "1"
    agent.leave()


@pytest.mark.parametrize(
    "name", ["nope", "reset", "step", "state", "close", pytest.param("x" * 10_000, id="long")]
)
def test_a_tool_that_is_none_is_an_error_of_the_protocol(shed: Served, name: str) -> None:
    agent = Agent(shed)
    assert error(agent.ask("tools/call", call(name)))["code"] == -32602
    agent.leave()


def test_an_episode_that_is_over_says_so(shed: Served) -> None:
    agent = Agent(shed)
    won = agent.call("win")
    assert won["_meta"] == {"openenv": {"reward": 1.0, "done": True}}
    after = agent.call("inc")
    assert after["isError"] is True
    assert "over" in text_of(after)
    agent.leave()


def test_a_hung_tool_says_so_and_the_session_lives() -> None:
    with serving(Shed, host_kind="process", limits=Limits(tool_timeout=0.3)) as served:
        agent = Agent(served)
        late = agent.call("nap", seconds=20)
        assert late["isError"] is True
        assert "timed out after 0.3 s" in text_of(late)
        assert text_of(agent.call("inc")) == "1"
        patient = call("wait", seconds=0.5) | {"_meta": {"openenv": {"timeout_s": 20}}}
        assert text_of(result(agent.ask("tools/call", patient))) == "awake"
        agent.leave()


def test_progress_is_a_stream_of_events(any_shed: Served) -> None:
    agent = Agent(any_shed)
    wanted = call("crawl", steps=3) | {"_meta": {"progressToken": "p1"}}
    answer = agent.post(ask("tools/call", wanted, id="c1"))
    assert answer.headers["content-type"] == "text/event-stream"
    *reports, response = events(answer.body)
    assert [report["params"] for report in reports] == [
        {"progressToken": "p1", "progress": step, "total": 3, "message": f"step {step}"}
        for step in (1, 2, 3)
    ]
    assert (response["id"], text_of(result(response))) == ("c1", "arrived")
    agent.leave()


@pytest.mark.parametrize("token", [None, True, 1.5, [1], {"a": 1}])
def test_without_a_token_the_answer_is_json(shed: Served, token: Any) -> None:
    agent = Agent(shed)
    asked = call("crawl", steps=3) | {"_meta": {"progressToken": token}}
    answer = agent.post(ask("tools/call", asked))
    assert answer.headers["content-type"] == "application/json"
    assert text_of(result(told(answer))) == "arrived"
    agent.leave()


def test_without_its_header_a_client_has_stateless_answers(shed: Served) -> None:
    headers = EVENTS | {VERSION: LATEST}
    assert len(result(told(post(shed, ask("tools/list"), headers)))["tools"]) > 3
    for _ in range(2):
        assert text_of(result(told(post(shed, ask("tools/call", call("inc")), headers)))) == "1"
    assert post(shed, ask("notifications/initialized", id=None), headers).status == 202
    assert shed.active() == 0


def test_a_revision_without_sessions_is_served_and_not_advertised(shed: Served) -> None:
    discovered = result(told(post(shed, ask("server/discover"), PINNED)))
    assert SESSIONLESS not in discovered["supportedVersions"]
    assert LATEST in discovered["supportedVersions"]
    listed = result(told(post(shed, ask("tools/list"), PINNED)))
    assert listed.items() >= {"resultType": "complete", "ttlMs": 0}.items()
    called = result(told(post(shed, ask("tools/call", call("inc")), PINNED)))
    assert (called["resultType"], text_of(called)) == ("complete", "1")
    wanted = call("crawl", steps=2) | {"_meta": {"progressToken": 7}}
    *reports, _ = events(post(shed, ask("tools/call", wanted), PINNED).body)
    assert len(reports) == 2
    assert shed.active() == 0


def test_a_revision_that_nobody_knows_is_refused(shed: Served) -> None:
    answer = post(shed, ask("server/discover"), EVENTS | {VERSION: "2031-01-01"})
    fault = error(told(answer, 400))
    assert fault["code"] == -32022
    assert fault["data"]["requested"] == "2031-01-01"
    assert LATEST in fault["data"]["supported"]


@pytest.mark.parametrize("header", ["Mcp-Method", "Mcp-Name"])
def test_headers_that_contradict_the_body_are_refused(shed: Served, header: str) -> None:
    answer = post(shed, ask("tools/call", call("inc")), PINNED | {header: "other"})
    assert error(told(answer, 400))["code"] == -32020
    agreeing = PINNED | {"Mcp-Method": "tools/call", "Mcp-Name": "inc"}
    assert result(told(post(shed, ask("tools/call", call("inc")), agreeing)))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ([ask("ping")], -32700),
        ([], -32700),
        (b"{", -32700),
        (b"", -32700),
        (b'{"a": NaN}', -32700),
        (b"\xff\xfe", -32700),
        pytest.param(b"[" * 100_000, -32700, id="deep"),
        pytest.param(b'{"params":' + b"[" * 10_000, -32700, id="deep params"),
        ("text", -32700),
        ({"method": "ping", "id": 1}, -32600),
        (ask("ping", jsonrpc="1.0"), -32600),
        (ask("ping", jsonrpc=2.0), -32600),
        (ask("ping", id=1.5), -32600),
        (ask("ping", id=True), -32600),
        (ask("ping", id=[1]), -32600),
        (ask("ping", id={"a": 1}), -32600),
        (ask("ping", id=None), -32600),
        (ask("tools/call", call("inc"), id=None), -32600),
        (ask("initialize", HELLO, id=None), -32600),
        (ask("ping", extra=1), -32600),
        (ask("ping") | {"params": [1]}, -32600),
        (ask("ping") | {"params": None}, -32600),
        (ask("ping") | {"method": 5}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, -32600),
    ],
)
def test_what_is_no_request_is_refused(shed: Served, asked: Any, code: int) -> None:
    agent = Agent(shed)
    answer = post(shed, asked, agent.headers | {"Content-Type": "application/json"})
    assert error(told(answer, 400))["code"] == code
    assert text_of(agent.call("inc")) == "1"
    agent.leave()


def test_a_method_that_is_none_is_not_found(shed: Served) -> None:
    agent = Agent(shed)
    for method in ("resources/list", "openenv/session/create", "reset", "step", "", "x" * 5000):
        assert error(agent.ask(method))["code"] == -32601
    assert agent.post(ask("notifications/roots/list_changed", id=None)).status == 202
    agent.leave()


def test_a_cursor_leads_nowhere_else(shed: Served) -> None:
    agent = Agent(shed)
    assert agent.ask("tools/list", {"cursor": "x"})["result"] == agent.ask("tools/list")["result"]
    assert "nextCursor" not in agent.ask("tools/list")["result"]
    agent.leave()


@pytest.mark.parametrize("version", [None, 5, [LATEST]])
def test_a_client_that_offers_no_revision_is_refused(shed: Served, version: Any) -> None:
    params = {name: value for name, value in HELLO.items() if name != "protocolVersion"}
    if version is not None:
        params["protocolVersion"] = version
    answer = post(shed, ask("initialize", params), EVENTS)
    assert SESSION.lower() not in answer.headers
    assert error(told(answer))["code"] == -32602
    assert shed.active() == 0


def test_what_begins_twice_is_refused_and_what_is_forgotten_begins_anew(shed: Served) -> None:
    agent = Agent(shed)
    again = agent.post(ask("initialize", HELLO))
    assert error(told(again, 400))["code"] == -32600
    agent.leave()
    anew = agent.post(ask("initialize", HELLO))
    assert anew.headers[SESSION.lower()] != agent.session_id
    agent.headers[SESSION] = anew.headers[SESSION.lower()]
    assert agent.leave().status == 204
    assert shed.active() == 0


def test_sessions_of_others_are_not_theirs_to_use(shed: Served) -> None:
    made = result(told(post(shed, ask("openenv/session/create"))))["session_id"]
    for session_id in (made, "nobody", "default"):
        headers = EVENTS | {SESSION: session_id}
        assert told(post(shed, ask("tools/list"), headers), 404)
        assert shed.http("DELETE", "/mcp", None, headers).status == 404
    assert shed.active() == 1
    result(told(post(shed, ask("openenv/session/close", {"session_id": made}))))
    assert shed.http("DELETE", "/mcp").status == 400


def test_a_full_server_and_a_failing_one_say_so() -> None:
    with serving(Shed, host_kind="thread", max_concurrent_envs=1) as served:
        agent = Agent(served)
        answer = post(served, ask("initialize", HELLO), EVENTS)
        assert error(told(answer))["data"]["code"] == "CAPACITY_REACHED"
        assert SESSION.lower() not in answer.headers
        agent.leave()
        Agent(served).leave()
    with serving(Cold, host_kind="thread") as served:
        answer = post(served, ask("initialize", HELLO), EVENTS)
        assert error(told(answer))["data"]["code"] == "FACTORY_ERROR"
        eventually(lambda: served.active() == 0)


def test_rejected_requests_leave_no_session(shed: Served) -> None:
    for method in ("GET", "HEAD", "PUT"):
        for headers in ({}, EVENTS, EVENTS | {SESSION: "nobody"}):
            for _ in range(35):
                answer = shed.http(method, "/mcp", None, headers)
                assert answer.status == 405
                assert "POST" in answer.headers["allow"]
    assert shed.active() == 0


def test_a_session_that_nobody_calls_ends() -> None:
    with serving(Shed, host_kind="thread", limits=Limits(unattached_timeout=0.3)) as served:
        agent = Agent(served)
        eventually(lambda: served.active() == 0)
        told(agent.post(ask("ping")), 404)


def test_pages_of_other_sites_and_bodies_that_are_no_json_are_refused(shed: Served) -> None:
    plain = {"Content-Type": "text/plain"}
    body = json.dumps(ask("openenv/session/create")).encode()
    assert shed.http("POST", "/mcp", body, plain).status == 415
    assert post(shed, ask("ping"), {"Origin": "http://evil.example"}).status == 403
    huge = ask("tools/call", call("undocumented", value="x" * (17 * 2**20)))
    assert post(shed, huge).status == 413
    assert shed.active() == 0


def test_large_values_come_and_go(shed: Served) -> None:
    agent = Agent(shed)
    assert len(text_of(agent.call("big", size=10_000_000))) == 10_000_000
    value = "y" * 5_000_000
    assert text_of(agent.call("undocumented", value=value)) == value
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    assert agent.call("undocumented", value=deep)["structuredContent"] == {"result": deep}
    agent.leave()
