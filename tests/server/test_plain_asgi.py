"""The application behind a server that is not ours: slower, and just as well-behaved."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from openenv.runtime.limits import Limits
from openenv.server.app import create_app
from tests.server.worlds import Gate, World
from tests.serving import Served, eventually, frame_head

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def plain() -> Iterator[Served]:
    """The application behind plain uvicorn."""
    app = create_app(World, limits=Limits(capacity=4))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, ws="websockets-sansio", log_level="warning")
        server: Any = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            eventually(lambda: server.started)
            yield Served(server, app.state.openenv, listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(10)
    assert not thread.is_alive()


def test_an_episode(plain: Served) -> None:
    with plain.socket() as client:
        client.reset(episode_id="e1")
        assert client.step(text="a")["observation"]["text"] == "a"
        assert client.state() == {"episode_id": "e1", "step_count": 1, "last": "a"}
        assert client.refused("not json")["code"] == "INVALID_JSON"
        assert client.refused(b"\x00")["code"] == "INVALID_JSON"
        assert client.refused({"type": "step", "data": {"what": "exit"}})["code"]
        client.send({"type": "close"})
        assert client.closed() == 1000
    eventually(lambda: plain.active() == 0)


def test_pipelined_frames_are_answered_in_order(plain: Served) -> None:
    with plain.socket() as client:
        client.reset()
        for number in range(100):
            client.send({"type": "step", "data": {"text": str(number)}})
        for number in range(100):
            assert client.receive()["data"]["observation"]["text"] == str(number)
    eventually(lambda: plain.active() == 0)


def test_a_full_server_tells(plain: Served) -> None:
    clients = [plain.socket() for _ in range(4)]
    sockets = [client.__enter__() for client in clients]
    for each in sockets:
        each.reset()
    with plain.socket() as refused:
        assert refused.receive()["data"]["code"] == "CAPACITY_REACHED"
        assert refused.closed() == 1000
    with plain.socket("/ws?wait_s=30") as patient:
        eventually(lambda: plain.health()["waiting"] == 1)
        sockets[0].send({"type": "close"})
        patient.reset()
    for client in clients:
        client.__exit__(None, None, None)
    eventually(lambda: plain.active() == 0)


def test_a_client_that_leaves_in_the_middle_of_a_step_frees_its_slot(plain: Served) -> None:
    gate = Gate()
    World.gate, before = gate, World.gate
    try:
        with plain.raw() as client:
            client.upgrade()
            client.send(b'{"type": "reset"}')
            client.send(b'{"type": "step", "data": {"what": "wait"}}')
            gate.wait_until_entered()
            client.reset()
    finally:
        gate.opened.set()
        World.gate = before
    eventually(lambda: plain.active() == 0)


def test_a_client_that_reads_nothing_is_read_no_further(plain: Served) -> None:
    step = b'{"type": "step", "data": {"text": "%s"}}' % (b"x" * 100_000)
    with plain.raw() as client:
        client.upgrade()
        client.send(b'{"type": "reset"}')
        client.socket.settimeout(0.5)
        sent = 0
        with pytest.raises(TimeoutError):
            for _ in range(1000):
                client.socket.sendall(frame_head(len(step)) + step)
                sent += len(step)
        assert sent < 50 * MIB
        client.reset()
    eventually(lambda: plain.active() == 0)
