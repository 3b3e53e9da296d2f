"""Servers that answer a byte at a time, for ever: whoever asks them goes on in time."""

import socket
import threading
from collections.abc import Iterator

import pytest

from openenv.client.fetching import is_available
from openenv.protocol.errors import NotReady
from openenv.providers.health import wait_until_healthy

PATIENCE_S = 0.5


@pytest.fixture(params=[b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def dripping(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a server that begins so, and never comes to an end."""
    ended = threading.Event()

    def drip(listening: socket.socket) -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            with connection:
                send(connection)

    def send(connection: socket.socket) -> None:
        try:
            connection.sendall(request.param)
            while not ended.wait(0.05):
                connection.sendall(b"H")
        except OSError:
            pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)
        thread = threading.Thread(target=drip, args=(listening,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            ended.set()
            thread.join()


def test_a_start_does_not_wait_for_ever(dripping: str) -> None:
    with pytest.raises(NotReady):
        wait_until_healthy(dripping, PATIENCE_S)


def test_it_is_not_available(dripping: str) -> None:
    assert not is_available(dripping, PATIENCE_S)
