"""A server that keeps what it hears and says it back, and clients without an EnvClient."""

import queue
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.sync.client import ClientConnection, connect
from websockets.sync.server import ServerConnection

from openenv.testing import FaultProxy
from tests.client.peers import scripted

PATIENCE_S = 10.0


@dataclass
class Echo:
    """A server that echoes.

    Attributes:
        url: its address.
        heard: what it has heard, in order, over all connections; `None` is a connection's end.
    """

    url: str
    heard: "queue.Queue[str | bytes | None]"

    def hears(self) -> str | bytes | None:
        """The next that it hears."""
        return self.heard.get(timeout=PATIENCE_S)


@contextmanager
def echoing(**options: Any) -> Iterator[Echo]:
    """Runs one."""
    heard: queue.Queue[str | bytes | None] = queue.Queue()

    def echo(connection: ServerConnection) -> None:
        try:
            for message in connection:
                heard.put(message)
                connection.send(message)
        finally:
            heard.put(None)

    with scripted(echo, ping_interval=None, max_size=None, **options) as url:
        yield Echo(url, heard)


@contextmanager
def connected(proxy: FaultProxy, path: str = "/ws", **options: Any) -> Iterator[ClientConnection]:
    """A WebSocket client of what is behind a proxy."""
    options = {"compression": None, "ping_interval": None, "max_size": None} | options
    url = proxy.url.replace("http", "ws") + path
    with connect(url, proxy=None, close_timeout=1, **options) as connection:
        yield connection


def hears(connection: ClientConnection) -> str | bytes:
    """The next that a client hears."""
    message: str | bytes = connection.recv(timeout=PATIENCE_S)
    return message


def everything(connection: socket.socket) -> bytes:
    """All that still comes over a bare connection."""
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received
