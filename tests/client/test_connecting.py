"""How a client finds its server: tries, proxies, certificates, queues."""

import contextlib
import http.server
import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from openenv import ConfigurationError, ConnectFailed, SessionCapacityError
from openenv.client import conversation
from openenv.client.endpoint import convert_to_ws_url
from tests.client.peers import Refusals, answer, raw, replying, scripted, self_signed
from tests.client.ways import Ask, Way, talking
from tests.client.worlds import PATIENCE_S, Parrot, ParrotClient, Say
from tests.serving import eventually, serving


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts follow each other quickly."""
    monkeypatch.setattr(conversation, "FIRST_PAUSE_S", 0.01)


async def _reset(client: Any, ask: Ask) -> str:
    text: str = (await ask(client.reset())).observation.text
    return text


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_tried_again(colour: str, status: int, hurried: None) -> None:
    refusals = Refusals(status, times=3)
    with scripted(replying(answer("hi")), process_request=refusals) as url:
        client = ParrotClient(base_url=url, connect_retries=3)
        assert talking(colour, _reset, client) == "hi"
    assert refusals.seen == 4


@pytest.mark.parametrize("status", [429, 502, 503, 504, 401, 403, 404, 500])
def test_a_refused_handshake_is_one_kind_of_error(colour: str, status: int) -> None:
    refusals = Refusals(status, times=9)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match=f"{status}") as caught:
            await ask(client.reset())
        assert caught.value.status == status
        assert isinstance(caught.value, ConnectionError)
        assert url.replace("http", "ws") in str(caught.value)

    with scripted(replying(), process_request=refusals) as url:
        talking(colour, talk, ParrotClient(base_url=url, connect_retries=0))
    assert refusals.seen == 1


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_a_server_that_will_not_is_not_tried_again(colour: str, status: int) -> None:
    refusals = Refusals(status, times=9)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed):
            await ask(client.reset())

    with scripted(replying(), process_request=refusals) as url:
        talking(colour, talk, ParrotClient(base_url=url))
    assert refusals.seen == 1


def test_a_client_may_come_before_its_server(colour: str, hurried: None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    done = threading.Event()

    async def talk(client: Any, ask: Ask) -> str:
        with pytest.raises(ConnectFailed) as caught:
            await ask(ParrotClient(base_url=client.base_url, connect_retries=0).reset())
        assert caught.value.status is None
        threading.Timer(0.05, begin).start()
        return await _reset(client, ask)

    def begin() -> None:
        with scripted_at(port):
            done.wait(PATIENCE_S)

    client = ParrotClient(base_url=f"http://127.0.0.1:{port}", connect_retries=50)
    try:
        assert talking(colour, talk, client) == "hi"
    finally:
        done.set()


@contextmanager
def scripted_at(port: int) -> Iterator[None]:
    from websockets.sync.server import serve

    with serve(replying(answer("hi")), "127.0.0.1", port, close_timeout=1) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()


def test_a_server_behind_a_door_that_opens_late(colour: str, hurried: None) -> None:
    """As a container's port: it accepts at once, and hangs up until the program listens."""
    calls = iter(range(100))

    def door(connection: socket.socket) -> None:
        if next(calls) >= 3:
            with socket.create_connection(("127.0.0.1", target)) as inner:
                relay(connection, inner)

    with scripted(replying(answer("hi"))) as url, raw(door) as port:
        target = int(url.rpartition(":")[2])
        client = ParrotClient(base_url=f"http://127.0.0.1:{port}", connect_retries=3)
        assert talking(colour, _reset, client) == "hi"


def relay(one: socket.socket, other: socket.socket) -> None:
    """Hands bytes on in both directions until one side has enough."""
    while True:
        for ready in select.select([one, other], [], [], PATIENCE_S)[0]:
            data = ready.recv(65536)
            if not data:
                return
            (other if ready is one else one).sendall(data)


def test_a_server_that_accepts_and_says_nothing(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match="Failed to connect"):
            await ask(client.reset())

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = ParrotClient(base_url=url, connect_timeout_s=0.1, connect_retries=0)
        talking(colour, talk, client)


def test_a_name_that_nobody_has(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match="no-such-host.invalid"):
            await ask(client.reset())

    talking(colour, talk, ParrotClient(base_url="http://no-such-host.invalid", connect_retries=0))


@pytest.mark.parametrize(
    "base_url",
    ["", "   ", "ftp://host", "http://", "http://:8000", "http://host:0", "http://host:99999",
     "http://host:port", "http://[::1", "http://two words", "://x"],
)  # fmt: skip
def test_what_is_no_address_is_refused_at_once(base_url: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url must be a server's address") as caught:
        ParrotClient(base_url=base_url)
    assert isinstance(caught.value, ValueError)


def test_a_client_needs_an_address() -> None:
    with pytest.raises(ValueError, match="base_url is missing"):
        ParrotClient()
    with pytest.raises(ValueError, match="a provider is a Provider"):
        ParrotClient(provider=object())
    with pytest.raises(ValueError, match="mode must be one of"):
        ParrotClient(base_url="http://host", mode="other")


@pytest.mark.parametrize(
    ("given", "kept", "ws"),
    [
        ("http://host:8000/", "http://host:8000", "ws://host:8000/ws"),
        ("host:8000", "http://host:8000", "ws://host:8000/ws"),
        ("HTTPS://host/base/", "https://host/base", "wss://host/base/ws"),
        ("ws://host", "http://host", "ws://host/ws"),
        ("wss://host", "https://host", "wss://host/ws"),
        (" http://[::1]:80 ", "http://[::1]:80", "ws://[::1]:80/ws"),
    ],
)
def test_addresses(given: str, kept: str, ws: str) -> None:
    client = ParrotClient(base_url=given, mode="PRODUCTION")
    assert (client.base_url, client._base_url, client._ws_url) == (kept, kept, ws)
    assert client.mode.value == "production"
    for name in ("base_url", "mode"):
        with pytest.raises(AttributeError):
            setattr(client, name, "other")


def test_the_form_of_an_address_for_web_sockets() -> None:
    assert convert_to_ws_url("http://a/") == "ws://a"
    assert convert_to_ws_url("https://a") == "wss://a"
    assert convert_to_ws_url("a:1") == "ws://a:1"
    assert convert_to_ws_url("ws://a") == "ws://a"


def test_a_redirect_is_followed_or_told(colour: str) -> None:
    def elsewhere(connection: Any, request: Any) -> Any:
        refusal = connection.respond(HTTPStatus.TEMPORARY_REDIRECT, "over there\n")
        refusal.headers["Location"] = url.replace("http", "ws") + "/ws"
        return refusal

    async def talk(client: Any, ask: Ask) -> None:
        if colour == "awaiting":
            assert await _reset(client, ask) == "hi"
            return
        with pytest.raises(ConnectFailed, match=f"HTTP 307.*points to ws{url[4:]}/ws") as caught:
            await ask(client.reset())
        assert caught.value.status == 307

    with (
        scripted(replying(answer("hi"))) as url,
        scripted(replying(), process_request=elsewhere) as old,
    ):
        talking(colour, talk, ParrotClient(base_url=old))


def test_headers_are_sent_and_not_shown(colour: str) -> None:
    seen: list[str | None] = []

    def look(connection: Any, request: Any) -> None:
        seen.append(request.headers.get("Authorization"))

    with scripted(replying(answer("hi")), process_request=look) as url:
        client = ParrotClient(base_url=url, headers={"Authorization": "Bearer s3cret"})
        assert "s3cret" not in repr(client._endpoint)
        assert talking(colour, _reset, client) == "hi"
    assert seen == ["Bearer s3cret"]


def test_a_name_and_password_in_the_address_are_used_and_not_shown(colour: str) -> None:
    seen: list[str | None] = []

    def refuse(connection: Any, request: Any) -> Any:
        seen.append(request.headers.get("Authorization"))
        return connection.respond(HTTPStatus.UNAUTHORIZED, "no\n")

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match="ws://127.0.0.1") as caught:
            await ask(client.reset())
        assert "s3cret" not in str(caught.value)

    with scripted(replying(), process_request=refuse) as url:
        address = url.replace("http://", "http://user:s3cret@")
        talking(colour, talk, ParrotClient(base_url=address))
    assert seen == ["Basic dXNlcjpzM2NyZXQ="]


@pytest.mark.parametrize("retries", [-1, 0])
def test_no_retries_are_one_attempt(colour: str, retries: int) -> None:
    refusals = Refusals(503, times=1)

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match="503"):
            await ask(client.reset())
        assert await _reset(client, ask) == "hi"

    with scripted(replying(answer("hi")), process_request=refusals) as url:
        talking(colour, talk, ParrotClient(base_url=url, connect_retries=retries))


@pytest.mark.parametrize("name", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_reached_without_a_proxy(
    colour: str, monkeypatch: pytest.MonkeyPatch, name: str, host: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    with scripted(replying(answer("hi"))) as url:
        client = ParrotClient(base_url=url.replace("127.0.0.1", host), connect_retries=0)
        assert talking(colour, _reset, client) == "hi"


class Proxy(http.server.BaseHTTPRequestHandler):
    """An HTTP proxy that knows one host by a name that nobody else knows."""

    protocol_version = "HTTP/1.1"
    asked: list[tuple[str, str | None]] = []
    target = 0

    def do_CONNECT(self) -> None:
        self.close_connection = True
        self.asked.append((self.path, self.headers.get("Proxy-Authorization")))
        if self.path.startswith("forbidden"):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        with socket.create_connection(("127.0.0.1", self.target)) as inner:
            self.send_response(HTTPStatus.OK)
            self.end_headers()
            relay(self.connection, inner)

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@contextmanager
def proxying(url: str) -> Iterator[int]:
    Proxy.asked.clear()
    Proxy.target = int(url.rpartition(":")[2])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_a_proxy_is_used_for_other_hosts(
    colour: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with scripted(replying(answer("hi"))) as url, proxying(url) as port:
        monkeypatch.setenv(name, f"http://user:pw@127.0.0.1:{port}")
        client = ParrotClient(base_url="http://far.example:81", connect_retries=0)
        assert talking(colour, _reset, client) == "hi"
    assert Proxy.asked == [("far.example:81", "Basic dXNlcjpwdw==")]


def test_a_proxy_that_refuses(colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match="403"):
            await ask(client.reset())

    with proxying("http://host:1") as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        client = ParrotClient(base_url="http://forbidden.example", connect_retries=0)
        talking(colour, talk, client)


def test_a_proxy_of_another_kind_says_so(colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")

    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match=r"speaks socks5, .*NO_PROXY"):
            await ask(client.reset())

    talking(colour, talk, ParrotClient(base_url="http://far.example", connect_retries=0))


def test_hosts_may_be_excepted_from_the_proxy(colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "near.example")
    for host, proxy in (("near.example", None), ("far.example", "http://127.0.0.1:9")):
        assert ParrotClient(base_url=f"http://{host}:8000")._endpoint.proxy == proxy


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for localhost that nobody has signed, and its key."""
    return self_signed(tmp_path_factory.mktemp("tls"))


@contextmanager
def over_tls(certificate: tuple[Path, Path], *frames: str) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with scripted(replying(*frames), ssl=context) as url:
        yield url.replace("http://127.0.0.1", "https://localhost")


def test_tls(colour: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    large = answer("x" * 1_000_000)

    async def talk(client: Any, ask: Ask) -> None:
        assert len((await ask(client.reset())).observation.text) == 1_000_000
        await ask(client.step(Say(text="y" * 1_000_000)))
        assert (await ask(client.step(Say()))).observation.text == "end"

    with over_tls(certificate, large, answer("ok"), answer("end")) as url:
        talking(colour, talk, ParrotClient(base_url=url))


def test_a_certificate_that_nobody_signed(colour: str, certificate: tuple[Path, Path]) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        with pytest.raises(ConnectFailed, match="(?i)certificate verify failed") as caught:
            await ask(client.reset())
        assert not caught.value.worth_retrying

    with over_tls(certificate) as url:
        talking(colour, talk, ParrotClient(base_url=url))


def test_localhost_may_be_ipv6_first(colour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def six_first(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if host != "localhost":
            return real(host, port, *args, **kwargs)
        six = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0))
        return [six, *real("127.0.0.1", port, socket.AF_INET, socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", six_first)
    with scripted(replying(answer("hi"))) as url:
        client = ParrotClient(base_url=url.replace("127.0.0.1", "localhost"), connect_retries=0)
        assert talking(colour, _reset, client) == "hi"


def test_a_full_server_and_its_queue(colour: str) -> None:
    async def refused(client: Any, ask: Ask) -> None:
        with pytest.raises(SessionCapacityError, match="1/1") as caught:
            await ask(client.reset())
        assert (caught.value.active_sessions, caught.value.max_sessions) == (1, 1)

    def leave() -> None:
        with contextlib.suppress(AssertionError):
            eventually(lambda: served.openenv.sessions.waiting == 1)
        first.close()

    with serving(Parrot, max_concurrent_envs=1) as served:
        way = Way(colour, f"http://127.0.0.1:{served.port}")
        first = ParrotClient(base_url=way.url)
        first.reset()
        way.run(refused)
        leaving = threading.Thread(target=leave)
        leaving.start()
        patient = way.client(wait_s=10, message_timeout_s=0.5)
        assert way.run(_reset, patient) == "ready []"
        leaving.join()
        assert first.reset().observation.text == "ready []"
        first.close()


def test_the_queue_does_not_count_as_the_answers_time(colour: str) -> None:
    async def talk(client: Any, ask: Ask) -> None:
        assert await _reset(client, ask) == "late"

    def late(connection: Any) -> None:
        connection.recv(PATIENCE_S)
        assert connection.request.path == "/ws?wait_s=5"
        threading.Event().wait(0.2)
        connection.send(answer("late"))
        connection.recv(PATIENCE_S)

    with scripted(late) as url:
        talking(colour, talk, ParrotClient(base_url=url, wait_s=5, message_timeout_s=0.05))
