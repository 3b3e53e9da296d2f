"""Environments with agents in them, wherever they live."""

import json
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from openenv import Limits
from openenv.env.environment import HostKind
from tests.harness.worlds import MARK, Hosted, marked, nothing_is_left
from tests.serving import Served, Socket, eventually, serving

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are seen by /proc"),
    pytest.mark.timeout(120),
]


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    return mark


@contextmanager
def hosted(mark: str, kind: HostKind) -> Iterator[Served]:
    with serving(Hosted, host_kind=kind, limits=Limits(close_grace=1.0)) as server:
        yield server
        eventually(lambda: server.active() == 0)
    nothing_is_left(mark)


@pytest.mark.parametrize("kind", ["inline", "thread", "process", "sandbox"])
def test_an_episode(kind: HostKind, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_TEST_BEHAVIOUR", "daemon+stubborn")
    with hosted(mark, kind) as server, server.socket() as socket:
        assert socket.reset()["metadata"]["injected_tools"] == ["price", "buy"]
        for number in (1, 2):
            metadata = socket.step(message="hi")["metadata"]
            assert (metadata["response"], metadata["turn_number"]) == ("echo:hi", number)


@pytest.mark.parametrize("kind", ["inline", "process"])
def test_a_client_that_leaves_in_a_turn(
    kind: HostKind, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_TEST_BEHAVIOUR", "hangs+daemon")
    with hosted(mark, kind) as server, server.socket() as socket:
        socket.reset()
        before = len(marked(mark))
        socket.send({"type": "step", "data": {"message": "hi"}})
        eventually(lambda: server.openenv.sessions.busy == 1)
        assert before >= 2


def test_events_cross_from_a_process(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_TEST_BEHAVIOUR", "good")
    options: dict[str, Any] = {"host_kind": "process", "mode": "production"}
    with serving(Hosted, **options) as server, server.socket("/harness") as socket:
        assert _heard(socket)["type"] == "session_started"
        socket.send({"type": "message", "content": "hi"})
        assert [_heard(socket)["type"] for _ in range(2)] == ["llm_chunk", "turn_complete"]
    nothing_is_left(mark)


def _heard(socket: Socket) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(socket.connection.recv(timeout=60))
    return told
