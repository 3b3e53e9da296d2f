"""What is not disturbed passes as it is, to the byte."""

import random
import socket
import threading
from collections.abc import Iterator

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.server import ServerConnection

from openenv.testing import FaultProxy
from tests.client.peers import Refusals, raw, scripted
from tests.client.worlds import Parrot
from tests.serving import RawSocket, Served, serving
from tests.testing.peers import PATIENCE_S, Echo, connected, echoing, everything, hears
from tests.testing.test_cutter import frame

SWITCHING = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"


@pytest.fixture
def echo() -> Iterator[Echo]:
    with echoing() as running:
        yield running


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536, 32 * 2**20])
def test_frames_of_all_sizes_pass(echo: Echo, size: int) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        for message in ("ä" * (size // 2), bytes(size)):
            client.send(message)
            assert echo.hears() == message
            assert hears(client) == message
    assert proxy.counts.frames == {"to_server": 2, "to_client": 2}
    assert proxy.counts.disturbed == 0


def test_fragmented_messages_pass(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy) as client:
        client.send(iter(["one ", "", "two ", "three"]))
        assert hears(client) == "one two three"
    assert proxy.counts.frames == {"to_server": 1, "to_client": 1}


def test_compression_passes(echo: Echo) -> None:
    with FaultProxy(echo.url) as proxy, connected(proxy, compression="deflate") as client:
        assert client.protocol.extensions
        for n in range(5):
            client.send(f"again and again {n} " * 1000)
            assert hears(client) == f"again and again {n} " * 1000


def test_what_was_agreed_passes(echo: Echo) -> None:
    with (
        echoing(subprotocols=["two"]) as choosy,
        FaultProxy(choosy.url) as proxy,
        connected(proxy, subprotocols=["one", "two"]) as client,
    ):
        assert client.subprotocol == "two"


def test_the_end_of_a_connection_passes() -> None:
    def leave(connection: ServerConnection) -> None:
        connection.recv()
        connection.close(4001, "enough")

    with scripted(leave) as url, FaultProxy(url) as proxy, connected(proxy) as client:
        client.send("hi")
        with pytest.raises(ConnectionClosed) as caught:
            hears(client)
    assert caught.value.rcvd is not None
    assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (4001, "enough")


def test_the_server_s_own_refusal_passes() -> None:
    with (
        echoing(process_request=Refusals(418, 1)) as busy,
        FaultProxy(busy.url) as proxy,
    ):
        with pytest.raises(InvalidStatus, match="418"), connected(proxy):
            pass
        with connected(proxy) as client:
            client.send("hi")
            assert hears(client) == "hi"
    assert proxy.counts.connections == 1
    assert proxy.counts.faults["refuse"] == 0


def test_every_byte_passes_both_ways() -> None:
    dice = random.Random(5)
    opcodes = [0, 1, 2, 8, 9, 10]
    frames = [frame(dice.choice(opcodes), True, True, dice.randrange(3000)) for _ in range(300)]
    stream = b"".join(frames) + frames[0][:3]  # and the beginning of one more
    received = []

    def repeat(connection: socket.socket) -> None:
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            request += connection.recv(1)
        connection.sendall(SWITCHING)
        received.append(everything(connection))
        connection.sendall(received[0])

    with raw(repeat) as port, FaultProxy(f"http://127.0.0.1:{port}") as proxy:
        client = RawSocket(int(proxy.url.rpartition(":")[2]))
        with client.socket as connection:
            assert client.upgrade() == SWITCHING
            at = 0
            while at < len(stream):
                size = dice.randrange(1, 5000)
                connection.sendall(stream[at : at + size])
                at += size
            connection.shutdown(socket.SHUT_WR)
            assert client.rest() == stream
    assert received == [stream]


def test_who_does_not_read_is_not_read_for() -> None:
    stalled = threading.Event()
    whole = frame(2, True, False, 64 * 2**20)

    def flood(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(SWITCHING)
        connection.settimeout(1.0)
        try:
            connection.sendall(whole)
        except TimeoutError:
            stalled.set()

    with raw(flood) as port, FaultProxy(f"http://127.0.0.1:{port}") as proxy:
        client = RawSocket(int(proxy.url.rpartition(":")[2]))
        with client.socket:
            assert client.upgrade() == SWITCHING
            assert stalled.wait(PATIENCE_S)


@pytest.fixture
def parrots() -> Iterator[Served]:
    with serving(Parrot) as served:
        yield served


def test_plain_http_passes(parrots: Served) -> None:
    with FaultProxy(f"http://127.0.0.1:{parrots.port}") as proxy:
        behind = Served(parrots.server, parrots.openenv, int(proxy.url.rpartition(":")[2]))
        assert behind.health()["status"] == "healthy"
        assert behind.http("GET", "/schema").json() == parrots.http("GET", "/schema").json()
        assert behind.post("/reset", {"seed": 3}, session="a").status == 200
        assert behind.post("/step", {"action": {"text": "hi"}}, session="a").status == 200
        assert behind.http("GET", "/nowhere").status == 404
        assert behind.http("DELETE", "/session", headers={"X-Session-ID": "a"}).status < 300
    assert proxy.counts.connections == 0


def test_the_path_of_the_address_stays(echo: Echo) -> None:
    paths = []

    def note(connection: ServerConnection) -> None:
        assert connection.request is not None
        paths.append(connection.request.path)

    with (
        scripted(note) as url,
        FaultProxy(f"{url}/deep/down/") as proxy,
        connected(proxy) as client,
        pytest.raises(ConnectionClosed),
    ):
        hears(client)
    assert proxy.counts.connections == 1
    assert paths == ["/deep/down/ws"]
