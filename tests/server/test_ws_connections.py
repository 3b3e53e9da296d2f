"""Connections that end badly, never begin, or carry too much: the server and the others go on."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from openenv.runtime.limits import Limits
from openenv.server import patient_http
from tests.server.worlds import Gate, World
from tests.serving import RawSocket, Served, eventually, frame_head, serving

MIB = 1024 * 1024


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The gate at which `wait` steps wait; opened at the end in any case."""
    gate = Gate()
    monkeypatch.setattr(World, "gate", gate)
    yield gate
    gate.opened.set()


def memory_mib() -> int:
    """What this process holds now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 // MIB


def test_a_connection_lost_in_the_middle_of_a_frame_frees_its_slot(server: Served) -> None:
    with server.raw() as client:
        assert client.upgrade().startswith(b"HTTP/1.1 101 ")
        client.send(b'{"type": "state"}')
        assert client.socket.recv(1)
        client.socket.sendall(frame_head(1000) + b'{"type": "reset"')
        client.reset()
    eventually(lambda: server.active() == 0)


def test_clients_that_leave_while_their_session_starts_leave_nothing(server: Served) -> None:
    for pause in (0.0, 0.002, 0.01, 0.03):  # a process takes its time to start
        with server.raw() as client:
            assert client.upgrade().startswith(b"HTTP/1.1 101 ")
            threading.Event().wait(pause)
            client.reset()
    with server.socket() as after:
        assert after.reset()["observation"]["text"] == "ready"
    eventually(lambda: server.active() == 0)


def test_a_connection_lost_in_the_middle_of_a_step_frees_its_slot(
    threaded: Served, gate: Gate
) -> None:
    with threaded.raw() as client:
        client.upgrade()
        client.send(b'{"type": "reset"}')
        client.send(b'{"type": "step", "data": {"what": "wait"}}')
        gate.wait_until_entered()
        client.reset()
    with threaded.socket() as other:
        other.reset()
        assert other.step(text="meanwhile")["observation"]["text"] == "meanwhile"
    eventually(lambda: threaded.active() == 1)  # a step that runs holds its slot
    gate.opened.set()
    eventually(lambda: threaded.active() == 0)


def test_a_reset_during_a_step_waits_for_its_turn(threaded: Served, gate: Gate) -> None:
    with threaded.socket() as client:
        client.reset()
        client.send({"type": "step", "data": {"what": "wait", "text": "slow"}})
        gate.wait_until_entered()
        client.send({"type": "reset", "data": {"episode_id": "second"}})
        client.send({"type": "state"})
        assert threaded.health()["status"] == "healthy"
        gate.opened.set()
        assert client.receive()["data"]["observation"]["text"] == "slow"
        assert client.receive()["data"]["observation"]["text"] == "ready"
        assert client.receive()["data"]["episode_id"] == "second"


def test_close_frees_the_slot_before_the_socket_is_closed(threaded: Served) -> None:
    with threaded.socket() as client:
        client.reset()
        assert threaded.active() == 1
        client.send({"type": "close"})
        assert client.closed() == 1000
        assert threaded.active() == 0


def test_a_goodbye_in_the_middle_of_a_step_is_taken(threaded: Served, gate: Gate) -> None:
    with threaded.raw() as client:
        client.upgrade()
        client.send(b'{"type": "reset"}')
        client.send(b'{"type": "step", "data": {"what": "wait"}}')
        gate.wait_until_entered()
        client.send((1000).to_bytes(2, "big"), opcode=8)
        assert client.close_code() == 1000
    gate.opened.set()
    eventually(lambda: threaded.active() == 0)


@pytest.mark.parametrize("kind", ["inline", "thread", "process", "sandbox"])
def test_frames_and_a_goodbye_in_one_breath_are_borne(
    servers: dict[str, Served], kind: str
) -> None:
    frames = [b'{"type": "reset"}', b'{"type": "step", "data": {}}', b'{"type": "state"}']
    said = b"".join(frame_head(len(frame)) + frame for frame in frames * 5)
    with servers[kind].raw() as client:
        client.upgrade()
        client.socket.sendall(said + frame_head(2, opcode=8) + (1000).to_bytes(2, "big"))
        assert client.close_code() == 1000
    eventually(lambda: servers[kind].active() == 0)


def test_a_message_of_the_limit_is_read(threaded: Served) -> None:
    frame = f'{{"type": "reset", "data": {{"x": "{"a" * (MIB - 36)}"}}}}'
    assert len(frame) == MIB
    with threaded.socket(max_size=2 * MIB) as client:
        client.send(frame)
        assert client.receive()["type"] == "observation"


def test_a_message_over_the_limit_ends_its_session_alone(server: Served) -> None:
    with server.socket() as other:
        other.reset()
        with server.raw() as client:  # it sends no more than the server reads before it refuses
            client.upgrade()
            client.socket.sendall(frame_head(MIB + 1) + b"x")
            assert client.close_code() == 1009
        assert other.step(text="still here")["observation"]["text"] == "still here"
    eventually(lambda: server.active() == 0)


def test_a_message_over_the_limit_in_fragments_is_refused(threaded: Served) -> None:
    with threaded.raw() as client:
        client.upgrade()
        for number in range(16):
            client.send(b"x" * 65536, opcode=0 if number else 1, fin=False)
        client.send(b"x", opcode=0, fin=False)
        assert client.close_code() == 1009


def test_200_mb_are_refused_without_reading_them(threaded: Served) -> None:
    """From the frame's head alone."""
    with threaded.raw() as client:
        client.upgrade()
        client.socket.sendall(frame_head(200 * MIB) + b"{")
        assert client.close_code() == 1009


def test_200_mb_are_not_kept() -> None:
    with serving(World) as server, server.socket() as other, server.raw() as client:
        other.reset()
        before = memory_mib()
        client.upgrade()
        client.socket.sendall(frame_head(200 * MIB))
        sent = send_all_of(client.socket, bytes(MIB), times=200)
        assert sent < 200 * MIB
        assert memory_mib() - before < 32
        assert other.step(text="still here")["observation"]["text"] == "still here"


def send_all_of(connection: socket.socket, chunk: bytes, times: int) -> int:
    """Sends a chunk again and again until the other side takes no more; the bytes it took."""
    sent = 0
    try:
        for _ in range(times):
            connection.sendall(chunk)
            sent += len(chunk)
    except OSError:
        pass
    return sent


@pytest.mark.parametrize("kind", ["inline", "thread"])
def test_a_client_that_reads_nothing_is_read_no_further(
    servers: dict[str, Served], kind: str
) -> None:
    """Otherwise the answers that it does not take would fill the server's memory."""
    step = b'{"type": "step", "data": {"text": "%s"}}' % (b"x" * 100_000)
    with servers[kind].raw() as client:
        client.upgrade()
        client.send(b'{"type": "reset"}')
        client.socket.settimeout(0.5)
        sent = send_all_of(client.socket, frame_head(len(step)) + step, times=1000)
        assert sent < 50 * MIB
        client.reset()
    eventually(lambda: servers[kind].active() == 0)


def test_a_client_that_only_pings_is_read_no_further(threaded: Served) -> None:
    ping = frame_head(125, opcode=9) + bytes(125)
    with threaded.raw() as client:
        client.upgrade()
        client.socket.settimeout(0.5)
        assert send_all_of(client.socket, ping * 1000, times=400) < 40 * MIB
        client.reset()


@pytest.mark.parametrize("kind", ["inline", "thread"])
def test_hundreds_of_hasty_clients_leave_nothing_behind(
    servers: dict[str, Served], kind: str
) -> None:
    server = servers[kind]
    eventually(lambda: server.active() == 0)
    threads = threading.active_count()
    for number in range(500):
        client = RawSocket(server.port)
        if number % 3:
            client.upgrade()
        if number % 3 == 1:
            client.send(b'{"type": "reset"}')
        client.reset()
    eventually(lambda: server.active() == 0)
    eventually(lambda: threading.active_count() <= threads)


SLOW = {
    "nothing": b"",
    "half a line": b"GET /ws HT",
    "half a head": b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n",
    "half a body": b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    b"Content-Length: 9\r\n\r\n{",
}


@pytest.mark.parametrize("sent", SLOW.values(), ids=SLOW)
def test_a_request_that_never_ends_is_ended(
    threaded: Served, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(patient_http, "REQUEST_DEADLINE_S", 0.3)
    with threaded.raw() as slow:
        slow.socket.sendall(sent)
        with threaded.socket() as other:
            other.reset()
            assert other.step(text="meanwhile")["observation"]["text"] == "meanwhile"
        slow.rest()


def test_a_second_request_that_never_ends_is_ended(
    threaded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_http, "REQUEST_DEADLINE_S", 0.3)
    with threaded.raw() as slow:
        slow.socket.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        assert slow.head().startswith(b"HTTP/1.1 200 ")
        slow.socket.sendall(b"GET /health HTTP/1.1\r\n")
        slow.rest()


def test_a_websocket_outlives_the_deadline_of_its_handshake(
    threaded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_http, "REQUEST_DEADLINE_S", 0.05)
    with threaded.socket() as client:
        with threaded.raw() as slow:
            assert slow.rest() == b""
        assert client.reset()["observation"]["text"] == "ready"


BAD_UPGRADES = {
    "another version": ("GET /ws HTTP/1.1", ["Sec-WebSocket-Version: 12"]),
    "two keys": ("GET /ws HTTP/1.1", ["Sec-WebSocket-Key: again"]),
    "a POST": ("POST /ws HTTP/1.1", []),
    "a body": ("GET /ws HTTP/1.1", ["Content-Length: 5"]),
    "a large header": ("GET /ws HTTP/1.1", ["Cookie: " + "c" * 9000]),
    "a long line": (f"GET /ws?{'q' * 9000} HTTP/1.1", []),
    "many headers": ("GET /ws HTTP/1.1", [f"X-{i}: v" for i in range(200)]),
    "too large a head": ("GET /ws HTTP/1.1", ["X: " + "v" * 100_000]),
    "no such header": ("GET /ws HTTP/1.1", ["not a header"]),
}


@pytest.mark.parametrize(("request_line", "headers"), BAD_UPGRADES.values(), ids=BAD_UPGRADES)
def test_a_bad_upgrade_is_answered_and_closed(
    threaded: Served, request_line: str, headers: list[str]
) -> None:
    with threaded.raw() as client:
        answer = client.upgrade(*headers, request=request_line)
        assert answer.startswith(b"HTTP/1.1 4")
        client.rest()
    assert threaded.active() == 0


def test_a_socket_elsewhere_is_refused(threaded: Served) -> None:
    with threaded.raw() as client:
        assert client.upgrade(request="GET /nowhere HTTP/1.1").startswith(b"HTTP/1.1 403 ")
        client.rest()


def test_a_full_house_of_lost_connections_recovers() -> None:
    with serving(World, limits=Limits(capacity=2)) as server:
        for _ in range(20):
            client = RawSocket(server.port)
            client.upgrade()
            client.send(b'{"type": "reset"}')
            client.reset()
        eventually(lambda: server.active() == 0)
        with server.socket() as client2:
            client2.reset()
