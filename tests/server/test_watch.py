"""Watch mode: whoever looks on sees what every session does, by whatever road, and touches none."""

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

import pytest
from fastapi import FastAPI
from websockets.exceptions import InvalidStatus

from openenv import Environment, Observation, tool
from openenv.env.environment import HostKind
from openenv.runtime import audience, tap
from openenv.server import watch
from openenv.server.app import create_app
from tests.server.v2 import ENCODINGS, MSGPACK, back, speaking
from tests.server.worlds import World
from tests.serving import PATIENCE_S, Served, Socket, eventually, serving_app

HOSTS: list[HostKind] = ["inline", "thread", "process", "sandbox"]
TOKEN = "watch-token-of-the-test"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
PATH = "/web/watch"
PARTS = {
    *("type", "id", "kind", "at", "step_count", "action", "observation"),
    *("reward", "done", "latency_ms", "episode_id", "total_reward"),
}


class Shop(Environment):
    """Sells tools."""

    def reset(self, **options: Any) -> Observation:
        return Observation()

    @tool
    def price(self, item: str) -> int:
        """What it costs."""
        return len(item)


class Onlooker:
    """One who looks on."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def next(self, kind: str) -> Any:
        """The next frame of a type; others are passed over."""
        while True:
            frame = json.loads(self.connection.recv(timeout=PATIENCE_S))
            if frame["type"] == kind:
                return frame

    def sessions(self, holds: Any = lambda listed: True) -> Any:
        """The next list of which something holds."""
        while not holds(listed := self.next("sessions")["sessions"]):
            pass
        return listed

    def choose(self, *aliases: str) -> None:
        self.connection.send(json.dumps({"watch": aliases}))

    def event(self, kind: str | None = None) -> Any:
        """The next event, which must be of a kind."""
        event = self.next("event")
        assert kind is None or event["kind"] == kind, event
        assert event.keys() - {"error"} == PARTS
        assert datetime.fromisoformat(event["at"]).tzinfo
        return event


def watchable(env: Any = World, **options: Any) -> FastAPI:
    """An application at which those may look on who show the token."""
    return create_app(env, watch_token=TOKEN, **options)


@contextmanager
def watched(env: Any = World, **options: Any) -> Iterator[Served]:
    """A server of such a one."""
    with serving_app(watchable(env, **options)) as server:
        yield server
        eventually(lambda: server.active() == 0)


@contextmanager
def onlooker(server: Served) -> Iterator[Onlooker]:
    offer: Any = ["openenv.watch"]
    with server.socket(PATH, additional_headers=BEARER, subprotocols=offer) as socket:
        assert socket.connection.subprotocol == "openenv.watch"
        yield Onlooker(socket.connection)


def is_watched(server: Served) -> bool:
    """Whether somebody looks on."""
    return server.openenv.sessions.let_watch().attended


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists come sooner, so that tests need not wait for them."""
    monkeypatch.setattr(watch, "LIST_EVERY_S", 0.02)


def test_the_list_says_who_plays_and_who_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap, "PLAYING_S", 1.0)
    with watched() as server, onlooker(server) as eye, server.socket() as player:
        player.reset()
        eye.sessions(lambda each: each and each[0]["playing"])
        (listed,) = eye.sessions(lambda each: each and not each[0]["playing"])
        assert listed["idle_s"] >= 1.0


@pytest.mark.parametrize("kind", HOSTS)
def test_an_episode_is_seen_from_its_reset_to_its_end(kind: HostKind) -> None:
    with watched(host_kind=kind) as server, onlooker(server) as eye:
        assert eye.sessions() == []
        with server.socket() as player:
            player.reset(seed=3, episode_id="e1")
            (listed,) = eye.sessions(lambda each: each and each[0]["episode_id"])
            assert listed["id"] == "s1"
            assert (listed["episode_id"], listed["step_count"], listed["done"]) == ("e1", 0, False)
            assert (listed["total_reward"], listed["busy"], listed["held"]) == (0.0, False, True)
            assert min(listed["idle_s"], listed["since_s"]) >= 0
            eye.choose("s1")
            assert eye.event("reset")["action"] == {"seed": 3, "episode_id": "e1"}
            player.step(text="on")
            stepped = eye.event("step")
            assert (stepped["action"], stepped["reward"]) == ({"text": "on"}, 1.0)
            assert (stepped["done"], stepped["step_count"], stepped["id"]) == (False, 1, "s1")
            player.state()
            assert eye.event("state")["observation"]["last"] == "on"
            player.refused({"type": "step", "data": {"what": "raise", "text": "oh"}})
            failed = eye.event("error")
            assert (failed["error"]["message"], failed["action"]["what"]) == ("oh", "raise")
            player.step(what="end")
            ended = eye.event("step")
            assert (ended["done"], ended["total_reward"], ended["episode_id"]) == (True, 2.0, "e1")
            (listed,) = eye.sessions(lambda each: each[0]["done"])
            assert (listed["step_count"], listed["total_reward"]) == (2, 2.0)
        assert eye.event("closed")["step_count"] == 2
        assert eye.sessions(lambda each: not each) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_sessions_of_version_2_are_seen(encoding: str) -> None:
    with watched(host_kind="thread") as server, onlooker(server) as eye:
        with speaking(server, encoding) as player:
            player.open()
            player.done("reset", seq=1, data={"seed": 1})
            (listed,) = eye.sessions(lambda each: each and each[0]["done"] is False)
            eye.choose(listed["id"])
            assert eye.event("reset")["observation"]["value"] == {"seed": 1}
            assert player.step(2, text="on")["text"] == "on"
            assert eye.event("step")["observation"]["text"] == "on"
            player.step(2, text="on")  # asked again: it is not carried out again
            player.step(3, text="then")
            assert eye.event("step")["step_count"] == 2
            batch = {"items": [{"op": "step", "ch": 0, "seq": 4, "data": {"text": "last"}}]}
            player.done("batch", data=batch)
            assert eye.event("step")["observation"]["text"] == "last"
            player.done("close")
        assert eye.event("closed")["step_count"] == 3


def test_whether_a_session_is_held_is_told() -> None:
    with watched(host_kind="thread") as server, onlooker(server) as eye:
        with speaking(server, MSGPACK) as player:
            opened = player.open()
            player.done("reset", seq=1)
            eye.sessions(lambda each: each and each[0]["held"])
        eye.sessions(lambda each: not each[0]["held"])
        with speaking(server, MSGPACK) as player:
            player.open(**back(opened, 1))
            eye.sessions(lambda each: each[0]["held"])
            player.done("close")


def test_sessions_over_http_are_seen() -> None:
    with watched(host_kind="thread") as server, onlooker(server) as eye:
        server.post("/reset", {"seed": 2}, "one-of-mine")
        (listed,) = eye.sessions(lambda each: each and each[0]["done"] is False)
        assert not listed["held"]
        assert "one-of-mine" not in json.dumps(listed)
        eye.choose(listed["id"])
        assert eye.event("reset")["action"] == {"seed": 2}
        server.post("/step", {"action": {"text": "on"}}, "one-of-mine")
        assert eye.event("step")["observation"]["text"] == "on"
        server.http("DELETE", "/session", headers={"X-Session-ID": "one-of-mine"})
        assert eye.event("closed")["id"] == listed["id"]


def test_calls_of_tools_are_seen_by_whatever_road() -> None:
    with watched(Shop, host_kind="thread") as server, onlooker(server) as eye:
        with server.socket() as player:
            player.reset()
            (listed,) = eye.sessions(lambda each: each and each[0]["done"] is False)
            eye.choose(listed["id"])
            assert eye.event("reset")
            call = {"name": "price", "arguments": {"item": "tea"}}
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            player.ask({"type": "mcp", "data": asked})
            called = eye.event("step")
            action = {"type": "call_tool", "tool_name": "price", "arguments": {"item": "tea"}}
            assert called["action"] == action
            assert called["observation"]["result"]["data"] == 3
            player.step(**action)
            assert eye.event("step")["step_count"] == 2
            player.step(type="list_tools")
            assert eye.event("step")["step_count"] == 2
        assert eye.event("closed")
        opened = rpc(server, "openenv/session/create")
        rpc(server, "tools/call", **opened, **call)
        eye.choose("s2")
        assert eye.event("step")["action"] == action
        rpc(server, "openenv/session/close", **opened)
        assert eye.event("closed")


def rpc(server: Served, method: str, **params: Any) -> Any:
    """The result of a JSON-RPC request."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return server.http("POST", "/mcp", asked).json()["result"]


def test_who_comes_later_sees_the_newest_first_and_no_sum_that_is_not_known() -> None:
    with watched(host_kind="inline") as server, server.socket() as player:
        player.reset(episode_id="e")
        player.step(text="before")
        with onlooker(server) as eye:
            (listed,) = eye.sessions()
            assert (listed["step_count"], listed["done"]) == (1, False)
            assert (listed["episode_id"], listed["total_reward"]) == ("e", None)
            eye.choose("s1", "s99")
            assert eye.event("step")["observation"]["text"] == "before"
            player.reset()
            player.step(text="now")
            (listed,) = eye.sessions(lambda each: each[0]["total_reward"])
            assert (listed["total_reward"], listed["step_count"]) == (1.0, 1)
            player.state()
        eventually(lambda: not is_watched(server))
        player.step(text="unseen")
        with onlooker(server) as eye, onlooker(server) as other:
            assert eye.sessions()[0]["total_reward"] is None
            for each in (eye, other):
                each.choose("s1")
                assert each.event("step")["observation"]["text"] == "unseen"
            player.step(what="end")
            assert (eye.event("step"), other.event("step"))[1]["done"]


def test_only_what_is_chosen_is_told() -> None:
    with watched(host_kind="inline") as server, onlooker(server) as eye, ExitStack() as stack:
        players = [stack.enter_context(server.socket()) for _ in range(2)]
        for player in players:
            player.reset()
        eye.choose("s1")
        assert eye.event("reset")["id"] == "s1"
        eye.choose("s2")
        assert eye.event("reset")["id"] == "s2"
        players[0].step(text="unseen")
        players[1].step(text="seen")
        assert eye.event("step")["observation"]["text"] == "seen"
        eye.choose()


def test_what_is_large_is_told_by_its_size() -> None:
    with watched(host_kind="inline") as server, onlooker(server) as eye, server.socket() as player:
        player.reset()
        eye.choose("s1")
        eye.event("reset")
        player.step(text="x" * 300_000)
        event = eye.event("step")
        assert event["observation"]["omitted_bytes"] > 300_000
        assert event["action"]["omitted_bytes"] > 300_000
        assert event["reward"] == 1.0


@pytest.mark.parametrize(("size", "steps"), [(200_000, 300), (10, 3000)])
def test_who_reads_slowly_skips_and_keeps_nobody_waiting(size: int, steps: int) -> None:
    text = "x" * size
    with watched(host_kind="inline") as server, onlooker(server) as eye, server.socket() as player:
        player.reset()
        eye.choose("s1")
        eye.event("reset")
        for _ in range(steps - 1):
            player.step(text=text)
        player.step(what="end")
        told = skipped = 0
        done = False
        while not done:
            frame = json.loads(eye.connection.recv(timeout=PATIENCE_S))
            if frame["type"] == "skipped":
                skipped += frame["count"]
            elif frame["type"] == "event":
                told, done = told + 1, frame["done"]
                assert frame["step_count"] == told + skipped
        assert told + skipped == steps
        assert skipped > 0 or size < 1000  # as fast as this machine plays, and no faster


@pytest.mark.parametrize(
    "frame",
    ["", "[]", '{"watch": 1}', '{"watch": [1]}', "{}", b"\xff", '{"op":"step"}', '["watch"]'],
)
def test_other_words_reach_nobody(frame: str | bytes) -> None:
    with watched(host_kind="inline") as server, onlooker(server) as eye:
        eye.connection.send(frame)
        assert eye.next("error")["error"]["code"] == "VALIDATION_ERROR"
        eye.choose(*(f"s{n}" for n in range(17)))
        assert "at most 16" in eye.next("error")["error"]["message"]
        with server.socket() as player:
            player.reset()
            eye.choose("s1")
            assert eye.event("reset")


def test_so_many_may_look_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience, "MAX_SPECTATORS", 1)
    with watched(host_kind="inline") as server:
        with onlooker(server) as eye:
            assert eye.sessions() == []
            with onlooker(server) as other:
                assert other.next("error")["error"]["code"] == "BACKPRESSURE"
        eventually(lambda: not is_watched(server))
        with onlooker(server) as eye:
            assert eye.sessions() == []


def test_a_browser_shows_the_token_by_a_subprotocol() -> None:
    token = base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("=")
    offer: Any = ["openenv.watch", f"openenv.bearer.{token}"]
    with watched(host_kind="inline") as server, server.socket(PATH, subprotocols=offer) as socket:
        assert socket.connection.subprotocol == "openenv.watch"
        assert Onlooker(socket.connection).sessions() == []


def test_without_a_subprotocol() -> None:
    with (
        watched(host_kind="inline") as server,
        server.socket(PATH, additional_headers=BEARER) as socket,
    ):
        assert socket.connection.subprotocol is None
        assert Onlooker(socket.connection).sessions() == []


def test_a_server_ends_while_somebody_looks_on() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(serving_app(watchable(host_kind="inline")))
        eye = Onlooker(
            stack.enter_context(server.socket(PATH, additional_headers=BEARER)).connection
        )
        eye.sessions()
        server.server.should_exit = True
        assert Socket(eye.connection).closed() is not None


@pytest.mark.parametrize(
    "path", ["/web/watch", "/web/watch%0A", "/web/watch/", "/web%2Fwatch", "//web/watch"]
)
def test_who_shows_no_token_sees_nothing(path: str) -> None:
    with (
        watched(host_kind="inline") as server,
        pytest.raises(InvalidStatus) as refused,
        server.socket(path),
    ):
        raise AssertionError("it was let in")
    assert refused.value.response.status_code in (401, 403)
