"""The socket whose frames are cut by ourselves: what plain requests and answers do not show."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.frames import Frame, Opcode
from websockets.protocol import CLIENT, Protocol

from openenv.runtime.limits import Limits
from openenv.server.conversation import MAX_BACKLOG
from openenv.server.run import server_for
from openenv.server.ws import DIRECT
from tests.server.worlds import Gate, World
from tests.serving import RawSocket, Served, eventually, frame_head, serving

PINGS = 3
STEP = b'{"type": "step", "data": {"text": "%d"}}'


class Deaf:
    """A client behind a proxy that swallows its pongs."""

    def __init__(self, client: RawSocket) -> None:
        assert client.upgrade().startswith(b"HTTP/1.1 101 ")
        self._client = client
        self._protocol = Protocol(CLIENT, max_size=None)
        self._frames: list[Frame] = []
        self.pings = 0
        self.send = client.send

    def next(self) -> Frame:
        """The next frame that is no ping."""
        while not self._frames:
            self._receive()
        return self._frames.pop(0)

    def await_pings(self, count: int) -> None:
        while self.pings < count:
            self._receive()

    def _receive(self) -> None:
        data = self._client.socket.recv(65536)
        assert data, "the server hung up"
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            assert isinstance(event, Frame)
            if event.opcode is Opcode.PING:
                self.pings += 1
            else:
                self._frames.append(event)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The gate at which `wait` steps wait."""
    gate = Gate()
    monkeypatch.setattr(World, "gate", gate)
    yield gate
    gate.opened.set()


@pytest.fixture
def pinging() -> Iterator[Served]:
    """A server that pings often and has little patience."""
    with serving(World, host_kind="thread", limits=Limits(capacity=4)) as served:
        served.server.config.ws_ping_interval = 0.05
        served.server.config.ws_ping_timeout = 1.0
        yield served


def test_a_lively_client_whose_pongs_are_swallowed_stays(pinging: Served) -> None:
    with pinging.raw() as client:
        deaf = Deaf(client)
        deaf.send(b'{"type": "reset"}')
        assert b"ready" in deaf.next().data
        while deaf.pings < PINGS:
            deaf.send(STEP % deaf.pings)
            assert deaf.next().opcode is Opcode.TEXT


def test_a_silent_client_whose_pongs_are_swallowed_is_left(pinging: Served) -> None:
    pinging.server.config.ws_ping_timeout = 0.05
    with pinging.raw() as client:
        deaf = Deaf(client)
        deaf.send(b'{"type": "state"}')
        assert deaf.next().opcode is Opcode.TEXT
        goodbye = deaf.next()
        assert goodbye.opcode is Opcode.CLOSE
        assert goodbye.data[:2] == (1011).to_bytes(2, "big")


def test_a_client_that_is_not_read_for_now_is_not_blamed(pinging: Served, gate: Gate) -> None:
    """It has asked for so much that its pongs are waiting behind its questions."""
    pinging.server.config.ws_ping_timeout = 0.05
    with pinging.raw() as client:
        deaf = Deaf(client)
        deaf.send(b'{"type": "reset"}')
        assert b"ready" in deaf.next().data
        deaf.send(b'{"type": "step", "data": {"what": "wait", "text": "slow"}}')
        for number in range(MAX_BACKLOG):
            deaf.send(STEP % number)
        gate.wait_until_entered()
        deaf.await_pings(PINGS)
        gate.opened.set()
        assert b"slow" in deaf.next().data
        for number in range(MAX_BACKLOG):
            assert b'"%d"' % number in deaf.next().data


def test_pings_between_messages_and_fragments_are_answered_in_order(threaded: Served) -> None:
    half, rest = STEP[:9], STEP[9:] % 2
    said = [
        frame_head(len(STEP % 1)) + STEP % 1,
        frame_head(1, opcode=9) + b"a",
        frame_head(len(half), fin=False) + half,
        frame_head(1, opcode=9) + b"b",
        frame_head(len(rest), opcode=0) + rest,
        frame_head(len(STEP % 3)) + STEP % 3,
    ]
    with threaded.raw() as client:
        deaf = Deaf(client)
        deaf.send(b'{"type": "reset"}')
        assert b"ready" in deaf.next().data
        client.socket.sendall(b"".join(said))
        heard = [deaf.next() for _ in range(5)]
    pongs = [bytes(frame.data) for frame in heard if frame.opcode is Opcode.PONG]
    texts = [bytes(frame.data) for frame in heard if frame.opcode is Opcode.TEXT]
    assert pongs == [b"a", b"b"]
    assert [b'"%d"' % number in text for number, text in enumerate(texts, 1)] == [True] * 3


def test_text_that_is_not_utf8_ends_also_what_came_with_it(threaded: Served) -> None:
    bad = b'{"type": "\xff"}'
    with threaded.raw() as client:
        client.upgrade()
        client.send(b'{"type": "state"}')
        client.socket.sendall((frame_head(len(bad)) + bad) * 3)
        assert client.close_code() == 1007
    eventually(lambda: threaded.active() == 0)


class Listener:
    """An application that takes the direct way and says what it hears, once it has accepted."""

    def __init__(self) -> None:
        self.heard: list[str | bytes] = []
        self.asked = threading.Event()
        self.may_accept = threading.Event()
        self.emit: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            return
        await receive()
        carrier = scope["extensions"][DIRECT](receive, send)
        client = asyncio.ensure_future(carrier.carry(self))
        self.asked.set()
        await asyncio.to_thread(self.may_accept.wait, 10)
        await send({"type": "websocket.accept"})
        self.emit = carrier.emit
        await client

    def on_frame(self, frame: str | bytes) -> None:
        self.heard.append(frame)
        if self.emit is not None:
            self.emit(frame)

    def choke(self, on: bool) -> None:
        pass


@contextmanager
def listening(app: Listener) -> Iterator[int]:
    """Serves it; the port."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        server = server_for(app, bound)
        thread = threading.Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            eventually(lambda: server.started)
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("size", [0, 10, 125, 126, 70_000, 3_000_000])
@pytest.mark.parametrize("opcode", [Opcode.TEXT, Opcode.BINARY])
def test_text_and_bytes_go_both_ways(opcode: Opcode, size: int) -> None:
    app = Listener()
    app.may_accept.set()
    with listening(app) as port:
        client = RawSocket(port)
        deaf = Deaf(client)
        deaf.send(b"a" * size, opcode=opcode)
        frame = deaf.next()
        client.reset()
    assert (frame.opcode, frame.data) == (opcode, b"a" * size)


def test_a_client_that_speaks_before_it_is_accepted_loses_nothing() -> None:
    app = Listener()
    with listening(app) as port:
        client = RawSocket(port)
        client.socket.sendall(
            b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert app.asked.wait(10)
        client.send(b"too early")
        eventually(lambda: app.heard == ["too early"])
        client.send(b"in two", fin=False)
        app.may_accept.set()
        assert client.head().startswith(b"HTTP/1.1 101 ")
        client.send(b" parts", opcode=0)
        client.send(b"in time")
        eventually(lambda: app.heard == ["too early", "in two parts", "in time"])
        client.reset()
