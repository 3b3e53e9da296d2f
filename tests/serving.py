"""Servers on real sockets, in a thread of the test's own process, and clients with bad manners."""

import base64
import http.client
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from openenv.server.app import create_app
from openenv.server.http_server import HTTPEnvServer
from openenv.server.run import Server, server_for

PATIENCE_S = 30.0
MASK = b"\x00\x00\x00\x00"


def eventually(holds: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Returns as soon as a condition holds; fails if it does not in time."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "the condition did not come to hold in time"
        time.sleep(0.005)


@dataclass
class Answer:
    """What came over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Socket:
    """A WebSocket client that says what it is told, and reads one frame at a time."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, frame: str | bytes | dict[str, Any]) -> None:
        self.connection.send(json.dumps(frame) if isinstance(frame, dict) else frame)

    def receive(self) -> dict[str, Any]:
        frame = self.connection.recv(timeout=PATIENCE_S)
        assert isinstance(frame, str)
        message: dict[str, Any] = json.loads(frame)
        assert message.keys() == {"type", "data"}
        return message

    def ask(self, frame: str | bytes | dict[str, Any]) -> dict[str, Any]:
        self.send(frame)
        return self.receive()

    def reset(self, **options: Any) -> dict[str, Any]:
        return _expect("observation", self.ask({"type": "reset", "data": options}))

    def step(self, **action: Any) -> dict[str, Any]:
        return _expect("observation", self.ask({"type": "step", "data": action}))

    def state(self) -> dict[str, Any]:
        return _expect("state", self.ask({"type": "state"}))

    def refused(self, frame: str | bytes | dict[str, Any]) -> dict[str, Any]:
        """The data of the error that a frame is answered with."""
        return _expect("error", self.ask(frame))

    def closed(self) -> int | None:
        """Waits until the server has closed the socket; the code it gave."""
        with suppress(ConnectionClosed):
            while True:
                self.connection.recv(timeout=PATIENCE_S)
        return self.connection.close_code


def _expect(kind: str, message: dict[str, Any]) -> dict[str, Any]:
    assert message["type"] == kind, message
    data: dict[str, Any] = message["data"]
    return data


class RawSocket:
    """A WebSocket client below the rules: its bytes are its own."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE_S)

    def upgrade(
        self, *headers: str, request: str = "GET /ws HTTP/1.1", host: str | None = "127.0.0.1"
    ) -> bytes:
        """Asks for a WebSocket; the head of the answer, empty if there is none."""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            request,
            *([f"Host: {host}"] if host is not None else []),
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            *headers,
        ]
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        return self.head()

    def head(self) -> bytes:
        """The next head of an answer."""
        received = b""
        while not received.endswith(b"\r\n\r\n") and (byte := self._read(1)):
            received += byte
        return received

    def send(self, payload: bytes, *, opcode: int = 1, fin: bool = True) -> None:
        """Sends a frame, whatever is in it."""
        self.socket.sendall(frame_head(len(payload), opcode=opcode, fin=fin) + payload)

    def rest(self) -> bytes:
        """All that the server still sends before it closes the connection."""
        received = b""
        while chunk := self._read(65536):
            received += chunk
        return received

    def close_code(self) -> int | None:
        """The code of the close frame that is the last thing the server sends."""
        rest = self.rest()
        at = rest.rfind(b"\x88")
        return int.from_bytes(rest[at + 2 : at + 4], "big") if at >= 0 else None

    def reset(self) -> None:
        """Drops the connection without a goodbye."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _read(self, size: int) -> bytes:
        try:
            return self.socket.recv(size)
        except ConnectionError:
            return b""


def frame_head(size: int, *, opcode: int = 1, fin: bool = True) -> bytes:
    """The head of a client's frame of that many bytes, masked by zeros."""
    first = bytes([(0x80 if fin else 0) | opcode])
    if size < 126:
        return first + bytes([0x80 | size]) + MASK
    if size < 1 << 16:
        return first + b"\xfe" + size.to_bytes(2, "big") + MASK
    return first + b"\xff" + size.to_bytes(8, "big") + MASK


class Served:
    """A running server."""

    def __init__(self, server: Server, openenv: HTTPEnvServer, port: int) -> None:
        self.server = server
        self.openenv = openenv
        self.port = port

    @contextmanager
    def socket(self, path: str = "/ws", **options: Any) -> Iterator[Socket]:
        """A WebSocket connection."""
        url = f"ws://127.0.0.1:{self.port}{path}"
        options = {"proxy": None, "open_timeout": PATIENCE_S, "compression": None} | options
        with connect(url, **options) as connection:
            yield Socket(connection)

    @contextmanager
    def raw(self) -> Iterator[RawSocket]:
        """A bare TCP connection."""
        client = RawSocket(self.port)
        with client.socket:
            yield client

    def http(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own; a body that is not bytes is sent as JSON."""
        sent = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.headers), answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any = None, session: str | None = None) -> Answer:
        """A POST, in a session of its own if one is named."""
        return self.http("POST", path, body, {"X-Session-ID": session} if session else None)

    def health(self) -> dict[str, Any]:
        answer = self.http("GET", "/health")
        assert answer.status == 200
        health: dict[str, Any] = answer.json()
        return health

    def active(self) -> int:
        """Sessions that exist."""
        return int(self.health()["active_sessions"])


@contextmanager
def serving(env: Any, port: int = 0, **options: Any) -> Iterator[Served]:
    """Serves an environment on a port, a free one by default, until the block ends.

    The options are those of `create_app`.
    """
    with serving_app(create_app(env, **options), port) as served:
        yield served


@contextmanager
def serving_app(app: FastAPI, port: int = 0) -> Iterator[Served]:
    """Serves an application, as `serving` does."""
    with socket.create_server(("127.0.0.1", port), backlog=2048) as listening:
        server = server_for(app, listening)
        thread = threading.Thread(target=server.run, args=([listening],), name="test-server")
        thread.start()
        try:
            eventually(lambda: server.started or not thread.is_alive())
            yield Served(server, app.state.openenv, listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
    assert not thread.is_alive(), "the server did not end"
