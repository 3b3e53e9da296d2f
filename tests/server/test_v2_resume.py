"""Exactly once, coming back, and the ends of sessions, over real sockets."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from openenv import Action, Environment, Observation
from openenv.env.environment import HostKind
from openenv.runtime.limits import Limits
from tests.server.v2 import ENCODINGS, MSGPACK, back, code, speaking
from tests.server.worlds import Gate, World
from tests.serving import Served, eventually, serving


class Clock:
    """A server's clock that can be put forward."""

    def __init__(self, server: Served) -> None:
        self._before = server.openenv.sessions._clock
        self._ahead = 0.0
        self._sessions = server.openenv.sessions
        self._sessions._clock = self._sessions._eviction._clock = self

    def __call__(self) -> float:
        return self._before() + self._ahead

    def forward(self, seconds: float) -> None:
        self._ahead += seconds
        for session in self._sessions._resumable.values():
            session._clock = self


@pytest.fixture(params=ENCODINGS)
def encoding(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The gate at which `wait` steps wait."""
    gate = Gate()
    monkeypatch.setattr(World, "gate", gate)
    yield gate
    gate.opened.set()


@pytest.fixture
def own() -> Iterator[Served]:
    """A server on threads, for two sessions."""
    with serving(World, host_kind="thread", limits=Limits(capacity=2, close_grace=5.0)) as server:
        yield server


def test_each_seq_is_carried_out_once(server: Served, encoding: str) -> None:
    with speaking(server, encoding) as client:
        client.done("reset", seq=1)
        first = client.ask("step", id=5, seq=2, data={"text": "a"})
        again = client.ask("step", id=6, seq=2, data={"text": "something else"})
        assert again == first | {"id": 6}
        failed = client.ask("step", id=7, seq=3, data={"what": "raise", "text": "no"})
        assert code(failed) == "EXECUTION_ERROR"
        assert client.ask("step", id=7, seq=3, data={"what": "raise"}) == failed
        assert client.refused("reset", seq=3) == "STALE_SEQ"
        assert client.refused("step", seq=2, data={}) == "STALE_SEQ"
        assert client.refused("step", seq=5, data={}) == "SEQ_GAP"
        assert client.done("state")["step_count"] == 2
        assert client.step(4, text="b")["text"] == "b"
        client.done("close")


def test_both_are_answered_if_it_still_runs(own: Served, gate: Gate, encoding: str) -> None:
    with speaking(own, encoding) as client:
        client.done("reset", seq=1)
        first = client.send("step", seq=2, data={"what": "wait", "text": "a"})
        second = client.send("step", seq=2, data={"what": "wait", "text": "a"})
        wrong = client.send("reset", seq=2)
        next_ = client.send("step", seq=3, data={"text": "b"})
        gate.wait_until_entered()
        gate.opened.set()
        replies = client.gather(4)
        assert replies[first] | {"id": 0} == replies[second] | {"id": 0}
        assert code(replies[wrong]) == "STALE_SEQ"
        assert replies[next_]["data"]["observation"]["text"] == "b"
        assert client.done("state")["step_count"] == 2


@pytest.mark.parametrize("op", ["step", "reset"])
def test_the_callers_time_is_enforced(own: Served, gate: Gate, op: str, encoding: str) -> None:
    with speaking(own, encoding) as client:
        client.done("reset", seq=1)
        data = {"what": "wait"}
        reply = client.ask(op, seq=2, timeout_s=0.05, data=data)
        assert code(reply) == "STEP_TIMEOUT"
        assert reply["data"]["timeout_s"] == 0.05
        assert client.refused("step", seq=3, data={}) == "SESSION_GONE"
        gate.opened.set()
        client.open()
        client.done("reset", seq=1)


def test_a_session_outlives_its_socket(server: Served, encoding: str) -> None:
    with speaking(server, encoding) as client:
        opened = client.open()
        client.done("reset", seq=1)
        kept = client.ask("step", seq=2, data={"text": "a"})
    assert opened["resumed"] is False
    assert opened["seq"] == 0
    assert opened["limits"]["resume_grace_s"] == 300
    await_detached(server, opened)
    assert server.active() == 1
    with speaking(server, encoding) as client:
        resumed = client.open(ch=4, **back(opened, 2))
        assert (resumed["resumed"], resumed["seq"]) == (True, 2)
        assert resumed["session_id"] == opened["session_id"]
        assert client.ask("step", ch=4, seq=2, data={})["data"] == kept["data"]
        assert client.step(3, ch=4, text="b")["text"] == "b"
        assert client.done("state", ch=4)["step_count"] == 2
        client.done("close", ch=4)


def test_it_may_come_back_in_the_other_encoding(threaded: Served) -> None:
    with speaking(threaded, ENCODINGS[0]) as client:
        opened = client.open()
        client.done("reset", seq=1)
        kept = client.ask("step", seq=2, data={"text": "a"})
    with speaking(threaded, ENCODINGS[1]) as client:
        client.open(**back(opened, 2))
        assert client.ask("step", seq=2, data={})["data"] == kept["data"]
        client.done("close")


def test_a_step_runs_on_while_nobody_listens(own: Served, gate: Gate, encoding: str) -> None:
    with speaking(own, encoding) as client:
        opened = client.open()
        client.done("reset", seq=1)
        client.send("step", seq=2, data={"what": "wait", "text": "a"})
        client.send("step", seq=3, data={"text": "b"})
        gate.wait_until_entered()
        client.done("ping")
    with speaking(own, encoding) as client:
        assert client.open(**back(opened, 1))["seq"] == 2
        second = client.send("step", seq=2, data={"what": "wait", "text": "a"})
        third = client.send("step", seq=3, data={"text": "b"})
        gate.opened.set()
        replies = client.gather(2)
        assert replies[second]["data"]["observation"]["text"] == "a"
        assert replies[third]["data"]["observation"]["text"] == "b"
        assert client.done("state")["step_count"] == 2


@pytest.mark.parametrize("token", [None, "", "wrong", 7, True, ["a"], {"a": 1}, "ä"], ids=str)
def test_nobody_comes_back_without_the_token(own: Served, encoding: str, token: Any) -> None:
    with speaking(own, encoding) as client, speaking(own, encoding) as thief:
        opened = client.open()
        client.done("reset", seq=1)
        stolen = {"session_id": opened["session_id"], "token": token}
        reply = thief.ask("open", data=stolen)
        assert code(reply) == "UNAUTHORIZED"
        assert opened["token"] not in str(reply)
        assert thief.refused("step", seq=2, data={}) == "UNAUTHORIZED"
        assert client.refused("open", data=stolen) == "UNAUTHORIZED"
        assert client.step(2, text="mine")["text"] == "mine"


def test_the_token_is_in_no_log(own: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with speaking(own) as client:
        opened = client.open()
        client.refused("open", ch=1, data={**back(opened), "token": opened["token"][:-1]})
        client.send("open", ch=1, data=back(opened))
        assert {client.receive()["ch"] for _ in range(2)} == {0, 1}
    assert len(opened["token"]) >= 32
    assert opened["token"][:-1] not in caplog.text


def test_the_first_is_told_of_the_one_that_takes_over(own: Served, encoding: str) -> None:
    with speaking(own, encoding) as first, speaking(own, encoding) as second:
        opened = first.open(ch=3)
        first.done("reset", ch=3, seq=1)
        second.open(ch=5, **back(opened, 1))
        told = first.receive()
        assert (code(told), told["ch"], "id" in told) == ("TAKEN_OVER", 3, False)
        assert first.refused("step", ch=3, seq=2, data={}) == "TAKEN_OVER"
        assert second.step(2, ch=5, text="a")["text"] == "a"
        first.done("close", ch=3)
        assert second.step(3, ch=5, text="b")["text"] == "b"


def test_a_session_is_gone_after_its_grace(encoding: str) -> None:
    limits = Limits(resume_grace=0.05, idle_timeout=600.0)
    with serving(World, limits=limits) as server:
        with speaking(server, encoding) as client:
            opened = client.open()
            client.done("reset", seq=1)
        eventually(lambda: server.active() == 0)
        with speaking(server, encoding) as client:
            assert client.refused("open", data=back(opened, 1)) == "SESSION_GONE"
            assert client.refused("step", seq=2, data={}) == "SESSION_GONE"
            assert client.refused("state") == "SESSION_GONE"
            assert server.active() == 0
            assert client.open()["resumed"] is False


def test_without_grace_a_session_ends_with_its_socket() -> None:
    with serving(World, limits=Limits(resume_grace=0)) as server:
        with speaking(server) as client:
            assert client.open()["limits"]["resume_grace_s"] == 0
            client.done("reset", seq=1)
        eventually(lambda: server.active() == 0)


def test_a_session_that_was_never_used_ends_with_its_socket(own: Served) -> None:
    with speaking(own) as client:
        client.open()
    eventually(lambda: own.active() == 0)


def await_detached(server: Served, opened: dict[str, Any]) -> None:
    """Returns when a session's socket is gone for the server too."""
    session = server.openenv.sessions._resumable[opened["session_id"]]
    eventually(lambda: session.detached_at is not None)


def cut_off(server: Served, clock: Clock, encoding: str) -> list[dict[str, Any]]:
    """Sessions that fill a server and whose sockets are gone, each for a second longer."""
    left = []
    for _ in range(server.openenv.sessions.capacity):
        with speaking(server, encoding) as client:
            left.append(client.open())
            client.done("reset", seq=1)
        await_detached(server, left[-1])
        clock.forward(1.0)
    assert server.active() == len(left)
    return left


def test_who_was_cut_off_for_long_makes_room(own: Served, encoding: str) -> None:
    clock = Clock(own)
    left = cut_off(own, clock, encoding)
    with speaking(own, encoding) as client:
        clock.forward(27.0)
        reply = client.ask("open")
        assert code(reply) == "CAPACITY_REACHED"
        assert reply["data"]["retryable"] is True
        clock.forward(1.5)
        assert client.open(ch=1)["resumed"] is False
        assert client.refused("open", ch=2) == "CAPACITY_REACHED"
        assert client.refused("open", ch=3, data=back(left[0])) == "SESSION_GONE"
        assert client.open(ch=4, **back(left[1]))["resumed"] is True


def test_two_at_once_get_the_room_of_two(own: Served, encoding: str) -> None:
    clock = Clock(own)
    cut_off(own, clock, encoding)
    clock.forward(31.0)
    with speaking(own, encoding) as client:
        client.send("open", ch=1)
        client.send("open", ch=2)
        assert [client.receive()["type"] for _ in range(2)] == ["opened", "opened"]


def test_an_idle_session_ends_and_its_client_is_told(encoding: str) -> None:
    with (
        serving(World, limits=Limits(idle_timeout=0.1)) as server,
        speaking(server, encoding) as client,
    ):
        client.done("reset", ch=2, seq=1)
        told = client.receive()
        assert (code(told), told["ch"], "id" in told) == ("SESSION_GONE", 2, False)
        assert client.refused("step", ch=2, seq=2, data={}) == "SESSION_GONE"
        eventually(lambda: server.active() == 0)


class Mortal(Environment[Action, Observation]):
    """Dies of its first step."""

    def reset(self) -> Observation:
        return Observation()

    def step(self, action: Action) -> Observation:
        os.write(2, b"last words\n")
        os.kill(os.getpid(), signal.SIGKILL)
        return Observation()


def test_a_crash_is_told_with_its_cause(encoding: str) -> None:
    with serving(Mortal, host_kind="process") as server, speaking(server, encoding) as client:
        client.done("reset", ch=1, seq=1)
        reply = client.ask("step", ch=1, seq=2, data={})
        assert code(reply) == "HOST_CRASHED"
        assert reply["data"]["exit_code"] == -signal.SIGKILL
        assert "last words" in reply["data"]["stderr"]
        assert client.refused("step", ch=1, seq=3, data={}) == "SESSION_GONE"
        client.open(ch=1)
        client.done("reset", ch=1, seq=1)


@pytest.mark.parametrize("host_kind", ["inline", "thread", "process", "sandbox"])
def test_a_server_ends_with_sockets_open(host_kind: HostKind) -> None:
    with ExitStack() as stack:
        with serving(World, host_kind=host_kind) as server:
            clients = [stack.enter_context(speaking(server)) for _ in range(3)]
            for client in clients:
                client.done("reset", seq=1)
            sessions = server.openenv.sessions
        assert sessions.active == 0


def test_a_running_step_is_answered_before_the_server_ends(gate: Gate) -> None:
    with ExitStack() as stack, serving(World, host_kind="thread") as server:
        client = stack.enter_context(speaking(server))
        client.done("reset", seq=1)
        client.send("step", seq=2, data={"what": "wait", "text": "a"})
        gate.wait_until_entered()
        server.server.should_exit = True
        gate.opened.set()
        assert client.receive()["data"]["observation"]["text"] == "a"


def test_two_hundred_sockets_leave_nothing(own: Served) -> None:
    def play(number: int, encoding: str = MSGPACK) -> None:
        with speaking(own, encoding) as client:
            opened = client.open(ch=number, wait_s=30)
            client.done("reset", ch=number, seq=1)
            client.step(2, ch=number)
            if number % 2:
                client.done("close", ch=number)
                return
        with speaking(own, encoding) as client:
            client.open(ch=0, **back(opened, 2))
            client.done("close")

    for number in range(100):
        play(number, ENCODINGS[number % 2])
    eventually(lambda: own.active() == 0)
    eventually(lambda: _tasks(own) <= 4)
    sessions = own.openenv.sessions
    assert not (sessions._resumable or sessions._by_id or sessions._seats)
    eventually(lambda: not _threads_of(World.__name__))


def _tasks(server: Served) -> int:
    loop = server.server.servers[0].get_loop()
    return len(asyncio.all_tasks(loop))


def _threads_of(name: str) -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == f"openenv-{name}"]
