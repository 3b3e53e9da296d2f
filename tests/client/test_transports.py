"""What carries frames, below any client: either way at any time, and every end typed.

Each test speaks to a scripted server, over a `BlockingSocket` and over a `Stream`.
"""

import asyncio
import base64
import gc
import hashlib
import socket
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection

from openenv.client.endpoint import Endpoint
from openenv.client.transports.blocking import TICK_S, BlockingSocket
from openenv.client.transports.stream import Stream
from openenv.protocol.errors import (
    ConnectFailed,
    MessageTooLarge,
    OpenEnvError,
    ReplyTimeout,
    SessionLost,
)
from tests.client.peers import raw, scripted
from tests.client.worlds import PATIENCE_S
from tests.serving import eventually

V2 = ("openenv.v2+msgpack", "openenv.v2+json")
LARGE = 20_000_000


class Line:
    """A transport, awaited whichever it is."""

    @classmethod
    async def open(cls, endpoint: Endpoint) -> "Line":
        raise NotImplementedError

    async def send(self, frame: str | bytes, within_s: float = PATIENCE_S) -> None:
        raise NotImplementedError

    async def receive(self, within_s: float = PATIENCE_S) -> str | bytes | None:
        """The next message, `None` if none comes in time; raises how the connection ended."""
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    transport: Any


class BlockingLine(Line):
    def __init__(self, transport: BlockingSocket) -> None:
        self.transport = transport

    @classmethod
    async def open(cls, endpoint: Endpoint) -> Line:
        return cls(BlockingSocket(endpoint))

    async def send(self, frame: str | bytes, within_s: float = PATIENCE_S) -> None:
        self.transport.send(frame, time.monotonic() + within_s)

    async def receive(self, within_s: float = PATIENCE_S) -> str | bytes | None:
        message: str | bytes | None = self.transport.receive(time.monotonic() + within_s)
        return message

    async def close(self) -> None:
        self.transport.close(None, PATIENCE_S)

    def keep(self, heartbeat: str) -> None:
        self.transport.keep(heartbeat, "farewell")


class StreamLine(Line):
    def __init__(self) -> None:
        self.messages: asyncio.Queue[str | bytes | OpenEnvError] = asyncio.Queue()
        self.ends = 0

    @classmethod
    async def open(cls, endpoint: Endpoint) -> Line:
        line = cls()
        line.transport = await Stream.open(endpoint, line.messages.put_nowait, line._on_lost)
        return line

    def _on_lost(self, error: OpenEnvError) -> None:
        self.ends += 1
        self.messages.put_nowait(error)

    async def send(self, frame: str | bytes, within_s: float = PATIENCE_S) -> None:
        self.transport.send(frame)
        await asyncio.wait_for(self.transport.drain(), within_s)

    async def receive(self, within_s: float = PATIENCE_S) -> str | bytes | None:
        try:
            message = await asyncio.wait_for(self.messages.get(), within_s)
        except asyncio.TimeoutError:
            return None
        if isinstance(message, OpenEnvError):
            raise message
        return message

    async def close(self) -> None:
        await self.transport.close(None, PATIENCE_S)
        assert self.transport.is_over
        assert self.ends <= 1

    def keep(self, heartbeat: str) -> None:
        self.transport.keep_with(heartbeat)


LINES: dict[str, type[Line]] = {"blocking": BlockingLine, "stream": StreamLine}


@pytest.fixture(params=["blocking", "stream", "stream on uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Runs a body with a transport of each kind that is open and is closed afterwards."""
    name, _, on_uvloop = request.param.partition(" on ")

    def run(talk: Callable[[Any], Coroutine[Any, Any, Any]], url: str, **options: Any) -> Any:
        async def body() -> Any:
            line = await LINES[name].open(Endpoint(url, subprotocols=V2, **options))
            try:
                return await talk(line)
            finally:
                await line.close()

        return uvloop.run(body()) if on_uvloop else asyncio.run(body())

    return run


def echo(connection: ServerConnection) -> None:
    while True:
        connection.send(connection.recv(PATIENCE_S))


@pytest.mark.parametrize("size", [0, 5, 125, 126, 65_535, 65_536, LARGE])
def test_text_and_bytes_go_both_ways(run: Any, size: int) -> None:
    async def talk(line: Any) -> None:
        for message in ("x" * size, b"x" * size, "é" * (size // 2)):
            await line.send(message)
            assert await line.receive() == message

    with scripted(echo, max_size=None) as url:
        run(talk, url)


@pytest.mark.parametrize("known", [V2, V2[1:], None], ids=["both", "json", "none"])
def test_a_subprotocol_is_agreed(run: Any, known: tuple[str, ...] | None) -> None:
    async def talk(line: Any) -> None:
        assert line.transport.subprotocol == (known[0] if known else None)

    with scripted(echo, subprotocols=known) as url:
        run(talk, url)


def test_a_subprotocol_that_was_not_offered_is_no_connection(run: Any) -> None:
    async def talk(line: Any) -> None:
        raise AssertionError("it is open")

    with (
        scripted(echo, select_subprotocol=lambda *_: "chat") as url,
        pytest.raises(ConnectFailed, match="chat"),
    ):
        run(talk, url)


def test_a_wait_that_ends_first_leaves_the_connection_as_it_is(run: Any) -> None:
    may_answer = threading.Event()

    def late(connection: ServerConnection) -> None:
        question = connection.recv(PATIENCE_S)
        may_answer.wait(PATIENCE_S)
        connection.send(question)
        echo(connection)

    async def talk(line: Any) -> None:
        await line.send("first")
        assert await line.receive(within_s=0.01) is None
        assert await line.receive(within_s=-1) is None
        may_answer.set()
        assert await line.receive() == "first"
        await line.send("second")
        assert await line.receive() == "second"

    with scripted(late) as url:
        run(talk, url)


def test_messages_that_come_while_nobody_calls_are_kept_in_order(run: Any) -> None:
    sent = threading.Event()

    def many(connection: ServerConnection) -> None:
        for number in range(200):
            connection.send(str(number))
        sent.set()
        echo(connection)

    async def talk(line: Any) -> None:
        assert await asyncio.to_thread(sent.wait, PATIENCE_S)
        if isinstance(line, BlockingLine):
            eventually(lambda: len(line.transport._messages) == 200)
        assert [await line.receive() for _ in range(200)] == [str(n) for n in range(200)]
        await line.send("goes on")
        assert await line.receive() == "goes on"

    with scripted(many, subprotocols=V2) as url:
        run(talk, url)


def test_two_large_messages_that_meet_do_not_block_each_other(run: Any) -> None:
    def first_says_all(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        connection.send(b"y" * LARGE)
        assert len(connection.recv(PATIENCE_S)) == LARGE
        connection.send("both")
        connection.recv(PATIENCE_S)

    async def talk(line: Any) -> None:
        await line.send("go")
        await line.send(b"x" * LARGE)
        assert await line.receive() == b"y" * LARGE
        assert await line.receive() == "both"

    with scripted(first_says_all, max_size=None) as url:
        run(talk, url)


def accept(connection: socket.socket) -> None:
    """Shakes hands."""
    protocol = ServerProtocol()
    while protocol.state is not State.OPEN:
        protocol.receive_data(connection.recv(65536))
        for event in protocol.events_received():
            protocol.send_response(protocol.accept(event))  # type: ignore[arg-type]
        connection.sendall(b"".join(protocol.data_to_send()))


def test_a_server_that_does_not_read_holds_nobody_up(run: Any) -> None:
    done = threading.Event()

    def unread(connection: socket.socket) -> None:
        accept(connection)
        done.wait(PATIENCE_S)

    async def talk(line: Any) -> None:
        with pytest.raises((ReplyTimeout, asyncio.TimeoutError)):
            for _ in range(10):
                await line.send(b"x" * LARGE, within_s=0.1)
        line.transport.abort()
        done.set()

    with raw(unread) as port:
        run(talk, f"http://127.0.0.1:{port}")


def test_what_a_server_does_not_take_in_time_says_that_its_session_goes_on() -> None:
    done = threading.Event()

    def unread(connection: socket.socket) -> None:
        accept(connection)
        done.wait(PATIENCE_S)

    with raw(unread) as port:
        sending = BlockingSocket(Endpoint(f"http://127.0.0.1:{port}"))
        with pytest.raises(ReplyTimeout, match="session goes on"):
            for _ in range(10):
                sending.send(b"x" * LARGE, time.monotonic() + 0.1)
        done.set()


def closing(*last_words: str, code: int = 1000) -> Callable[[ServerConnection], None]:
    def handle(connection: ServerConnection) -> None:
        connection.recv(PATIENCE_S)
        for word in last_words:
            connection.send(word)
        connection.close(code, "enough")

    return handle


def test_what_was_said_before_the_end_is_heard_first(run: Any) -> None:
    async def talk(line: Any) -> None:
        await line.send("go")
        assert [await line.receive(), await line.receive()] == ["one", "two"]
        with pytest.raises(SessionLost, match="with code 1001 enough"):
            await line.receive()
        with pytest.raises(SessionLost, match="with code 1001 enough"):
            await line.send("late")

    with scripted(closing("one", "two", code=1001)) as url:
        run(talk, url)


def test_a_message_that_is_too_large_ends_the_connection(run: Any) -> None:
    async def talk(line: Any) -> None:
        await line.send("x" * 101)
        with pytest.raises(MessageTooLarge):
            await line.receive()

    with scripted(echo) as url:
        run(talk, url, max_message_bytes=100)


@pytest.mark.parametrize("fragmented", [False, True])
def test_text_that_is_not_utf8_ends_the_connection(run: Any, fragmented: bool) -> None:
    said = b"\x01\x01\xff\x80\x00" if fragmented else b"\x81\x01\xff"

    async def talk(line: Any) -> None:
        assert await line.receive() == "ok"
        with pytest.raises(SessionLost, match="1007"):
            await line.receive()

    with raw(upgraded(b"\x81\x02ok" + said)) as port:
        run(talk, f"http://127.0.0.1:{port}")


def test_a_connection_that_breaks_is_lost(run: Any) -> None:
    async def talk(line: Any) -> None:
        with pytest.raises(SessionLost, match="without a goodbye, and a session that can") as lost:
            await line.receive()
        assert "is gone" not in str(lost.value)

    with raw(upgraded(b"\x81\x7d only half of this", then_leave=True)) as port:
        run(talk, f"http://127.0.0.1:{port}")


def upgraded(
    said: bytes, *, at_once: int = 1 << 20, then_leave: bool = False
) -> Callable[[socket.socket], None]:
    """Accepts any handshake and goes on with some bytes, so many at once."""

    def handle(connection: socket.socket) -> None:
        request = b""
        while not request.endswith(b"\r\n\r\n"):
            request += connection.recv(65536)
        key = request.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        answer = (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n" + said
        )
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in range(0, len(answer), at_once):
            connection.sendall(answer[at : at + at_once])
        while not then_leave and b"\x88" not in connection.recv(65536):
            pass

    return handle


@pytest.mark.parametrize("at_once", [1, 3, 100, 1 << 20])
def test_frames_may_follow_at_the_heels_of_the_handshake(run: Any, at_once: int) -> None:
    pieces = b"\x01\x03two\x89\x00\x80\x07 pieces"

    async def talk(line: Any) -> None:
        heard = [await line.receive() for _ in range(3)]
        assert heard == ["one", "two pieces", b"three"]

    with raw(upgraded(b"\x81\x03one" + pieces + b"\x82\x05three", at_once=at_once)) as port:
        run(talk, f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "said", [b"SSH-2.0-Server\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"]
)
def test_what_is_no_websocket_is_told_at_once(run: Any, said: bytes) -> None:
    done = threading.Event()

    def speak(connection: socket.socket) -> None:
        connection.sendall(said)
        done.wait(PATIENCE_S)

    with raw(speak) as port:
        with pytest.raises(ConnectFailed):
            run(None, f"http://127.0.0.1:{port}", connect_timeout=1000)
        done.set()


class Tunnel:
    """Answers messages, but no pings; of each message it keeps account."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.left = threading.Event()

    def __call__(self, connection: socket.socket) -> None:
        protocol = ServerProtocol(subprotocols=list(V2))  # type: ignore[arg-type]
        try:
            while protocol.state is not State.CLOSED and (data := connection.recv(65536)):
                protocol.receive_data(data)
                for event in protocol.events_received():
                    self._take(protocol, event)
                for out in protocol.data_to_send():
                    if out[:1] != b"\x8a":  # no pong
                        connection.sendall(out)
        finally:
            self.left.set()

    def _take(self, protocol: ServerProtocol, event: Any) -> None:
        if protocol.state is State.CONNECTING:
            protocol.send_response(protocol.accept(event))
        elif event.opcode == 1:
            self.heard.append(event.data.decode())
            if event.data != b"farewell":
                protocol.send_text(b"answer to " + event.data)


QUICK: Any = {"ping_interval": 0.05, "ping_timeout": 0.8}


def test_a_heartbeat_keeps_a_quiet_connection_where_pings_are_swallowed(run: Any) -> None:
    tunnel = Tunnel()

    async def talk(line: Any) -> None:
        line.keep("heartbeat")
        deadline = time.monotonic() + PATIENCE_S
        while tunnel.heard.count("heartbeat") < 5:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        await line.send("question")
        heard = [await line.receive()]
        while heard[-1] != "answer to question":
            heard.append(await line.receive())
        assert heard == ["answer to heartbeat", "answer to question"]

    with raw(tunnel) as port:
        run(talk, f"http://127.0.0.1:{port}", **QUICK)


def test_without_an_answer_to_a_ping_the_connection_is_given_up(run: Any) -> None:
    tunnel = Tunnel()

    async def talk(line: Any) -> None:
        with pytest.raises(SessionLost, match="keepalive ping timeout"):
            await line.receive()
        assert await asyncio.to_thread(tunnel.left.wait, PATIENCE_S)

    with raw(tunnel) as port:
        run(talk, f"http://127.0.0.1:{port}", ping_interval=0.05, ping_timeout=0.05)


def test_whatever_comes_is_a_sign_of_life(run: Any) -> None:
    tunnel = Tunnel()

    async def talk(line: Any) -> None:
        end = time.monotonic() + 4 * 0.3
        while time.monotonic() < end:
            await line.send("hi")
            assert await line.receive() == "answer to hi"

    with raw(tunnel) as port:
        run(talk, f"http://127.0.0.1:{port}", ping_interval=0.01, ping_timeout=0.3)


def test_a_socket_that_is_let_go_says_a_last_word() -> None:
    tunnel = Tunnel()
    with raw(tunnel) as port:
        line = BlockingSocket(Endpoint(f"http://127.0.0.1:{port}", subprotocols=V2))
        line.keep("heartbeat", "farewell")
        del line
        gc.collect()
        assert tunnel.left.wait(PATIENCE_S)
    assert tunnel.heard == ["farewell"]


def test_a_server_that_takes_no_pongs_is_left_and_holds_up_no_other_socket() -> None:
    left = threading.Event()

    def flood(connection: socket.socket) -> None:
        accept(connection)
        try:
            while True:
                connection.sendall((b"\x89\x7d" + bytes(125)) * 500)
        finally:
            left.set()

    tunnel = Tunnel()
    with raw(flood) as port, raw(tunnel) as other_port:
        flooded = BlockingSocket(Endpoint(f"http://127.0.0.1:{port}", connect_timeout=1000))
        quick = Endpoint(f"http://127.0.0.1:{other_port}", subprotocols=V2, **QUICK)
        other = BlockingSocket(quick)
        other.keep("heartbeat", "farewell")
        assert left.wait(PATIENCE_S)
        beats = tunnel.heard.count("heartbeat")
        eventually(lambda: tunnel.heard.count("heartbeat") > beats + 1)
        with pytest.raises(SessionLost):
            flooded.receive(time.monotonic() + PATIENCE_S)
        other.abort()


def test_a_socket_that_was_dropped_is_over_though_its_descriptor_lives_on() -> None:
    with scripted(echo, subprotocols=V2) as url:
        dropped = BlockingSocket(Endpoint(url, subprotocols=V2))
        number = dropped._socket.fileno()
        dropped.abort()
        quiet = [each for _ in range(8) for each in socket.socketpair()]
        try:
            assert number in [each.fileno() for each in quiet]
            with pytest.raises(SessionLost):
                dropped.receive(time.monotonic() + 2 * TICK_S)
            with pytest.raises(SessionLost):
                dropped.send("late", time.monotonic() + PATIENCE_S)
            with pytest.raises(SessionLost):
                dropped.exchange("late", 2 * TICK_S)
            assert not dropped.tend()
        finally:
            for each in quiet:
                each.close()


async def test_a_stream_says_a_last_word() -> None:
    tunnel = Tunnel()
    lost: list[OpenEnvError] = []
    with raw(tunnel) as port:
        endpoint = Endpoint(f"http://127.0.0.1:{port}", subprotocols=V2)
        stream = await Stream.open(endpoint, lambda message: None, lost.append)
        stream.part("farewell")
        assert await asyncio.to_thread(tunnel.left.wait, PATIENCE_S)
        await stream.close(None, PATIENCE_S)
    assert tunnel.heard == ["farewell"]
    assert lost == []


async def test_what_a_stream_does_itself_is_no_loss() -> None:
    lost: list[OpenEnvError] = []
    with scripted(echo) as url:
        for _ in range(3):
            stream = await Stream.open(Endpoint(url), lambda message: None, lost.append)
            stream.abort()
            await stream.close(None, PATIENCE_S)
            with pytest.raises(SessionLost):
                stream.send("late")
            await stream.drain()
    assert lost == []


async def test_a_stream_whose_opening_is_cancelled_lets_go() -> None:
    accepted, left = threading.Event(), threading.Event()

    def silent(connection: socket.socket) -> None:
        accepted.set()
        while connection.recv(65536):
            pass
        left.set()

    with raw(silent) as port:
        endpoint = Endpoint(f"http://127.0.0.1:{port}", connect_timeout=1000)
        opening = asyncio.ensure_future(Stream.open(endpoint, print, print))
        assert await asyncio.to_thread(accepted.wait, PATIENCE_S)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert await asyncio.to_thread(left.wait, PATIENCE_S)
