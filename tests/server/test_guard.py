"""Who may call, with what: clients, pages of this server, pages that were named; JSON, not much."""

from collections.abc import Iterator

import pytest

from openenv.runtime.limits import Limits
from openenv.server import patient_http
from tests.server.worlds import World
from tests.serving import RawSocket, Served, eventually, serving

FOREIGN = [
    "https://evil.example",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://127.0.0.1.evil.example",
    "http://evil.example/127.0.0.1",
    "null",
    "",
    "file://",
    "http://[",
    "http://[::1",
    "not an origin",
    "\xff\xfe",
]


@pytest.fixture
def own(threaded: Served) -> str:
    """The origin of the server's own pages."""
    return f"http://127.0.0.1:{threaded.port}"


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("path", ["/reset", "/step", "/state", "/health"])
def test_a_foreign_page_may_not_call(threaded: Served, origin: str, path: str) -> None:
    method = "GET" if path in ("/state", "/health") else "POST"
    answer = threaded.http(method, path, None, {"Origin": origin})
    assert answer.status == 403
    assert answer.json()["code"] == "UNAUTHORIZED"
    assert "OPENENV_ALLOWED_ORIGINS" in answer.json()["message"]
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_page_gets_no_socket(threaded: Served, origin: str) -> None:
    with threaded.raw() as client:
        head = client.upgrade(f"Host: 127.0.0.1:{threaded.port}", f"Origin: {origin}", host=None)
        assert head.startswith(b"HTTP/1.1 403 ")
        client.rest()
    assert threaded.active() == 0


@pytest.mark.parametrize("host", ["", "null"])
def test_a_page_without_an_origin_matches_no_host(threaded: Served, host: str) -> None:
    with threaded.raw() as client:
        request = f"GET /health HTTP/1.1\r\nHost: {host}\r\nOrigin: null\r\n\r\n"
        client.socket.sendall(request.encode())
        assert client.head().startswith(b"HTTP/1.1 403 ")


def test_a_page_of_this_server_may_call(threaded: Served, own: str) -> None:
    assert threaded.http("GET", "/health", None, {"Origin": own}).status == 200
    with threaded.socket(origin=own) as client:
        client.reset()


def test_a_page_behind_a_proxy_may_call(threaded: Served) -> None:
    headers = {"Origin": "https://app.localhost", "X-Forwarded-Host": "app.localhost"}
    assert threaded.http("GET", "/health", None, headers).status == 200


def test_a_foreign_name_that_points_here_may_not_call(threaded: Served) -> None:
    headers = {"Origin": "http://evil.example", "X-Forwarded-Host": "evil.example"}
    assert threaded.http("GET", "/health", None, headers).status == 403
    with threaded.raw() as client:
        head = client.upgrade("Host: evil.example", "Origin: http://evil.example", host=None)
        assert head.startswith(b"HTTP/1.1 403 ")


def test_named_origins_may_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENENV_ALLOWED_ORIGINS", "https://a.example/, http://b.example:81")
    with serving(World) as server:
        for origin in ("https://a.example", "http://b.example:81"):
            assert server.http("GET", "/health", None, {"Origin": origin}).status == 200
            with server.socket(origin=origin) as client:
                client.reset()
        for origin in ("http://a.example", "http://b.example", "https://a.example.evil"):
            assert server.http("GET", "/health", None, {"Origin": origin}).status == 403


def test_every_origin_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENENV_ALLOWED_ORIGINS", "*")
    with serving(World) as server:
        for origin in ("https://a.example", "null", "http://["):
            assert server.http("GET", "/health", None, {"Origin": origin}).status == 200


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json", None],
)
def test_another_content_type_is_refused(threaded: Served, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    answer = threaded.http("POST", "/reset", b'{"seed": 1}', headers)
    assert answer.status == 415
    assert "application/json" in answer.json()["detail"]


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON; charset=utf-8", "application/ld+json"],
)
def test_json_is_taken(threaded: Served, content_type: str) -> None:
    headers = {"Content-Type": content_type, "X-Session-ID": "json"}
    assert threaded.http("POST", "/reset", b'{"seed": 1}', headers).status == 200
    assert threaded.http("DELETE", "/session", None, {"X-Session-ID": "json"}).status == 204


LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def narrow() -> Iterator[Served]:
    """A server that reads little."""
    with serving(World, limits=Limits(max_message_bytes=LIMIT)) as server:
        yield server


def body_of(size: int) -> bytes:
    return b'{"x": "%s"}' % (b"a" * (size - 9))


def test_a_body_of_the_limit_is_read(narrow: Served) -> None:
    headers = {"Content-Type": "application/json"}
    assert len(body_of(LIMIT)) == LIMIT
    assert narrow.http("POST", "/reset", body_of(LIMIT), headers).status == 200


def test_a_body_over_the_limit_is_refused(narrow: Served) -> None:
    headers = {"Content-Type": "application/json"}
    answer = narrow.http("POST", "/reset", body_of(LIMIT + 1), headers)
    assert answer.status == 413
    error = answer.json()
    assert error["code"] == "MESSAGE_TOO_LARGE"
    assert str(LIMIT) in error["message"]
    assert "OPENENV_MAX_MESSAGE_MB" in error["message"]


def head(*headers: str) -> bytes:
    lines = ["POST /reset HTTP/1.1", "Host: a", "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode()


def test_a_body_over_the_limit_is_refused_before_it_comes(narrow: Served) -> None:
    with narrow.raw() as client:
        client.socket.sendall(head(f"Content-Length: {200 * 1024 * 1024}"))
        assert client.head().startswith(b"HTTP/1.1 413 ")


def test_a_body_of_unknown_length_is_refused_at_the_limit(narrow: Served) -> None:
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    with narrow.raw() as client:
        client.socket.sendall(head("Transfer-Encoding: chunked") + chunk + chunk)
        assert client.head().startswith(b"HTTP/1.1 413 ")


def test_a_refused_body_that_goes_on_is_cut_off(
    narrow: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at once, so that a client has time to hear why."""
    monkeypatch.setattr(patient_http, "REQUEST_DEADLINE_S", 0.2)
    chunk = b"10000\r\n" + bytes(0x10000) + b"\r\n"
    with narrow.raw() as client:
        client.socket.sendall(head("Transfer-Encoding: chunked"))
        with pytest.raises(ConnectionError):
            while True:
                client.socket.sendall(chunk)


def test_a_body_in_chunks_is_read(narrow: Served) -> None:
    with narrow.raw() as client:
        client.socket.sendall(
            head("Transfer-Encoding: chunked", "X-Session-ID: chunks")
            + b'5\r\n{"see\r\n5\r\nd": 3\r\n1\r\n}\r\n0\r\n\r\n'
        )
        assert client.head().startswith(b"HTTP/1.1 200 ")


def test_a_client_that_leaves_in_the_middle_of_a_body_is_forgotten(narrow: Served) -> None:
    before = narrow.active()
    for _ in range(20):
        client = RawSocket(narrow.port)
        client.socket.sendall(head("Content-Length: 100", "X-Session-ID: gone") + b"{")
        client.reset()
    assert narrow.active() == before
    eventually(lambda: narrow.health()["status"] == "healthy")


BAD_HTTP = {
    "garbage": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50),
    "no version": b"GET /health\r\n\r\n",
    "two lengths": b"POST /reset HTTP/1.1\r\nHost: a\r\n"
    b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "negative length": b"POST /reset HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "header bomb": b"GET /health HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    "endless header": b"GET /health HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 1_000_000,
    "endless line": b"GET /" + b"y" * 1_000_000,
}


@pytest.mark.parametrize("sent", BAD_HTTP.values(), ids=BAD_HTTP)
def test_what_is_not_http_is_refused(threaded: Served, sent: bytes) -> None:
    with threaded.raw() as client:
        try:
            client.socket.sendall(sent)
        except OSError:
            return  # cut off before it had all been said
        answer = client.rest()
        assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
