"""A session has no network, all of it, or the hosts that are listed."""

import contextlib
import os
import socket
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from openenv.runtime.confine import (
    Applied,
    ConfineError,
    Confinement,
)
from openenv.runtime.confine.egress import is_allowed
from tests.sandbox.marks import both, confining, everywhere
from tests.sandbox.stage import Stage, expect, play_scene

pytestmark = confining


@pytest.mark.parametrize("host", ["", "a b", "https://a", "[::1]:80", "a:", "*", "a/b", "*.*.a"])
def test_what_is_no_host_is_told(host: str) -> None:
    with pytest.raises(ConfineError, match="is no host"):
        Confinement(network=(host,))


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("a.org", 443, True),
        ("a.org", 80, True),
        ("a.org", 22, False),
        ("b.org", 8443, True),
        ("b.org", 443, False),
        ("x.c.org", 443, True),
        ("c.org", 443, False),
        ("xc.org", 443, False),
        ("a.org.evil.net", 443, False),
    ],
)
def test_hosts_are_allowed_by_name_and_port(host: str, port: int, allowed: bool) -> None:
    assert is_allowed(host, port, ("A.org", "b.org:8443", "*.c.org")) is allowed


def on_the_network(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def connect(applied: Applied) -> str:
            with socket.create_connection(address):
                return "connected" if "netns" not in applied.features else "a namespace"

        expect(stage.run(connect, network=True), "connected")


@both
@everywhere
def test_the_network_is_there_if_it_is_declared(who: str, without: str) -> None:
    play_scene(on_the_network, who, without=without)


def through_the_proxy(stage: Stage) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_port

        def ask(host: str, tunnel: bool) -> str:
            address = os.environ["HTTP_PROXY"].removeprefix("http://")
            with contextlib.closing(HTTPConnection(address, timeout=20)) as client:
                if tunnel:
                    client.set_tunnel(host, port)
                    client.request("GET", "/")
                else:
                    client.request("GET", f"http://{host}:{port}/")
                return client.getresponse().read().decode()

        def play(applied: Applied) -> str:
            answers = [ask("localhost", False), ask("localhost", True), ask("127.0.0.1", False)]
            with contextlib.suppress(OSError):
                answers.append(ask("127.0.0.1", True))
            with contextlib.suppress(OSError):
                socket.socket().connect(("127.0.0.1", port))
                answers.append("past the proxy")
            return "".join(answers)

        refused = f"127.0.0.1:{port} is not among the hosts that the environment declares\n"
        ended = stage.run(play, network=(f"localhost:{port}",))
        server.shutdown()
    expect(ended, f"hello\nhello\n{refused}")


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *args: object) -> None:
        """Nothing."""


@both
def test_a_session_reaches_the_hosts_that_are_listed_and_no_others(who: str) -> None:
    play_scene(through_the_proxy, who)


def ask_nonsense(stage: Stage) -> None:
    def play(applied: Applied) -> str:
        host, _, port = os.environ["HTTP_PROXY"].removeprefix("http://").partition(":")

        def say(text: bytes) -> bytes:
            with socket.socket() as client:
                client.settimeout(20)
                with contextlib.suppress(OSError):  # it hangs up on nonsense
                    client.connect((host, int(port)))
                    client.sendall(text)
                    client.shutdown(socket.SHUT_WR)
                    return client.recv(100).partition(b"\r\n")[0]
                return b""

        idle = [socket.socket() for _ in range(100)]
        for each in idle:
            each.connect((host, int(port)))
        for each in idle:
            each.close()
        deadline = time.monotonic() + 20
        while not say(b"GET / HTTP/1.1\r\n\r\n") and time.monotonic() < deadline:
            time.sleep(0.01)  # until it has seen that they are gone
        answers = [
            say(b"GET / HTTP/1.1\r\n\r\n"),
            say(b"\x00\xff" * 20),
            say(b"CONNECT \xff\xfe:443 HTTP/1.1\r\n\r\n"),
            say(b"CONNECT example.org:99999999 HTTP/1.1\r\n\r\n"),
            say(b"CONNECT nowhere.invalid:443 HTTP/1.1\r\n\r\n"),
        ]
        answers.append(say(b"GET http://example.org/ HTTP/1.1\r\nA: " + b"x" * (1 << 17)))
        return b"|".join(answers).decode()

    said = stage.run(play, network=("example.org", "nowhere.invalid")).said
    assert said.split("|") == [
        *("HTTP/1.1 400 Bad Request", "", "", "HTTP/1.1 403 Forbidden"),
        *("HTTP/1.1 502 Bad Gateway", ""),
    ], said


@both
def test_nonsense_does_not_stop_the_proxy(who: str) -> None:
    play_scene(ask_nonsense, who)
