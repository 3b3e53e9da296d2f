"""Servers of bad manners: what a client may meet besides a good one."""

import contextlib
import logging
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection, serve

from tests.client.worlds import PATIENCE_S

ANSWER = '{"type":"observation","data":{"observation":{"text":"TEXT"},"reward":null,"done":false}}'
GOODBYE = b'{"type":"close"}'
SILENT = logging.getLogger("tests.silent")
"""What a scripted server thinks of a client that drops it is no finding of ours."""
SILENT.setLevel(logging.CRITICAL + 1)
CAPACITY = (
    '{"type":"error","data":{"message":"Server at capacity: 2/2 sessions active","code":'
    '"CAPACITY_REACHED","active_sessions":2,"max_sessions":2}}'
)


def answer(text: str) -> str:
    """A good answer to a reset or a step."""
    return ANSWER.replace("TEXT", text)


@contextmanager
def scripted(handler: Callable[[ServerConnection], None], **options: Any) -> Iterator[str]:
    """A WebSocket server whose connections do what a function does; its address."""

    def handle(connection: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed, TimeoutError):
            handler(connection)

    with serve(handle, "127.0.0.1", 0, close_timeout=1, logger=SILENT, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join(PATIENCE_S)


def replying(*frames: str | bytes) -> Callable[[ServerConnection], None]:
    """Answers each request with the next frame, then waits for the client to leave."""

    def handle(connection: ServerConnection) -> None:
        for frame in frames:
            connection.recv(PATIENCE_S)
            connection.send(frame)
        connection.recv(PATIENCE_S)

    return handle


class Refusals:
    """Refuses so many handshakes with an HTTP status, then accepts."""

    def __init__(self, status: int, times: int) -> None:
        self.status = status
        self.times = times
        self.seen = 0

    def __call__(self, connection: ServerConnection, request: Request) -> Response | None:
        self.seen += 1
        if self.seen > self.times:
            return None
        return connection.respond(HTTPStatus(self.status), "not now\n")


@contextmanager
def raw(handler: Callable[[socket.socket], None]) -> Iterator[int]:
    """A TCP server whose connections do what a function does; its port."""

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE_S)
            handler(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def self_signed(directory: Path) -> tuple[Path, Path]:
    """A certificate for localhost that nobody has signed, and its key."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    try:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
            + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
            + ["-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("NOT TESTED: TLS, because there is no openssl that makes a certificate")
    return certificate, key


class Deaf:
    """Answers requests, but a ping never: as behind a tunnel that swallows them.

    Attributes:
        hung: after that many answers it says nothing more.
        said: the answers it has given.
        pings: the pings it has seen.
    """

    def __init__(self, hung: int | None = None) -> None:
        self.hung = hung
        self.pings = 0
        self.said = 0
        self.left = threading.Event()

    def __call__(self, connection: socket.socket) -> None:
        protocol = ServerProtocol()
        try:
            while protocol.state is not State.CLOSED and (data := connection.recv(65536)):
                protocol.receive_data(data)
                for event in protocol.events_received():
                    self._take(protocol, event)
                for out in protocol.data_to_send():
                    if out[:1] != b"\x8a":  # no pong
                        connection.sendall(out)
                if protocol.close_expected() and self.said != self.hung:
                    return
        finally:
            self.left.set()

    def _take(self, protocol: ServerProtocol, event: object) -> None:
        if isinstance(event, Request):
            protocol.send_response(protocol.accept(event))
        elif isinstance(event, Frame) and event.opcode is Opcode.PING:
            self.pings += 1
        elif isinstance(event, Frame) and event.opcode is Opcode.TEXT and self.said != self.hung:
            if event.data == GOODBYE:
                protocol.send_close(1000)
                return
            self.said += 1
            protocol.send_text(answer(str(self.said)).encode())
