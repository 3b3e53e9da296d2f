"""Waiting for servers that are slow, sick, silent, far away, or somebody else's proxy."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from openenv.protocol.errors import NotReady, ProviderError
from openenv.providers.health import is_loopback, wait_until_healthy

LONG_S = 15.0


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers as its server says: a list of statuses, the last one for ever."""

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        server.asked.append((self.path, self.headers.get("Authorization")))
        status = server.statuses.pop(0) if len(server.statuses) > 1 else server.statuses[0]
        if self.headers.get("Authorization") != server.token:
            status = 401
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, statuses: list[int], token: str | None) -> None:
        super().__init__(("127.0.0.1", 0), Scripted)
        self.statuses = statuses
        self.token = token
        self.asked: list[tuple[str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextmanager
def answering(*statuses: int, token: str | None = None) -> Iterator[Server]:
    with Server(list(statuses), token) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def test_a_server_that_becomes_healthy() -> None:
    with answering(503, 503, 500, 404, 200) as server:
        wait_until_healthy(server.url, LONG_S)
        assert len(server.asked) == 5


def test_an_address_with_a_path_and_a_token() -> None:
    with answering(200, token="Bearer x") as server:
        headers = {"Authorization": "Bearer x"}
        wait_until_healthy(f"{server.url}/spaces/echo/", LONG_S, headers=headers)
        assert server.asked == [("/spaces/echo/health", "Bearer x")]
        with pytest.raises(NotReady, match="it answered 401"):
            wait_until_healthy(server.url, 0.3)


def test_a_server_that_stays_sick() -> None:
    with answering(503) as server, pytest.raises(NotReady, match=r"it answered 503.*slow start"):
        wait_until_healthy(server.url, 0.3)


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(NotReady, match="refused") as caught:
        wait_until_healthy(f"http://127.0.0.1:{port}", 0.3)
    assert isinstance(caught.value, TimeoutError)


@pytest.mark.parametrize("said", [b"", b"no HTTP at all\r\n\r\n", b"HTTP/1.1 20"])
def test_a_server_that_speaks_something_else(said: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def answer() -> None:
            while not over.is_set():
                connection, _ = listening.accept()
                with connection:
                    connection.sendall(said)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            with pytest.raises(NotReady):
                wait_until_healthy(f"http://127.0.0.1:{listening.getsockname()[1]}", 0.5)
        finally:
            over.set()
            socket.create_connection(listening.getsockname()).close()
            thread.join()


def test_a_server_that_accepts_and_is_silent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(NotReady):
        wait_until_healthy(f"http://127.0.0.1:{listening.getsockname()[1]}", 0.5)


def test_a_server_that_died_is_not_waited_for() -> None:
    with answering(503) as server, pytest.raises(ProviderError, match="it burnt down") as caught:
        wait_until_healthy(server.url, 600, is_alive=lambda: "it burnt down")
    assert not isinstance(caught.value, NotReady)


def test_proxies_are_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with answering(200) as server:
        wait_until_healthy(server.url, LONG_S)


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000/x", True),
        ("http://[::1]:8000", True),
        ("https://example.org", False),
        ("http://10.0.0.1", False),
        ("", False),
    ],
)
def test_what_is_this_machine(url: str, answer: bool) -> None:
    assert is_loopback(url) is answer
