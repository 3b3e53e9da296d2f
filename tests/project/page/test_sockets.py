"""What the page of a server elsewhere says on WebSockets."""

import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Response
from websockets.sync.server import ServerConnection

from openenv import EnvPool, GenericEnvClient
from openenv.project.page import sockets as relayed
from openenv.runtime.limits import Limits
from tests.project.page.mirrored import nobody, page_of, sockets, website
from tests.server.worlds import World
from tests.serving import PATIENCE_S, Served, eventually, serving

V1, V2 = "openenv.v1", "openenv.v2+json"
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: oCcziZBv+jOzJnciTGmjWw==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
MEGABYTE = 1 << 20
FRAME = b"\x82\xff" + MEGABYTE.to_bytes(8, "big") + bytes(4) + b"x" * MEGABYTE


def url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


@pytest.fixture(scope="module")
def world() -> Iterator[Served]:
    limits = Limits(capacity=4, max_message_bytes=MEGABYTE, resume_grace=0.0)
    with serving(World, limits=limits) as served:
        yield served


@pytest.fixture(scope="module")
def mirror(world: Served) -> Iterator[Served]:
    with page_of(url(world)) as page:
        yield page


def chosen(served: Served, *offers: str) -> str | None:
    with served.socket(subprotocols=offers or None) as socket:
        return socket.connection.subprotocol


def status(served: Served, path: str = "/ws", **options: Any) -> tuple[int, str]:
    """How a handshake is refused."""
    with pytest.raises(InvalidStatus) as refused, served.socket(path, **options):
        pass
    response = refused.value.response
    return response.status_code, (response.body or b"").decode()


def test_an_episode_is_played_through_it(world: Served, mirror: Served) -> None:
    with mirror.socket() as socket:
        socket.reset(seed=1)
        assert socket.step(what="say", text="hello")["observation"]["text"] == "hello"
        assert socket.state()["step_count"] == 1
        assert world.active() == 1
    eventually(lambda: world.active() == 0)


def test_binary_frames_pass(world: Served, mirror: Served) -> None:
    with EnvPool(url(mirror), 2) as pool:
        assert pool.reset(seeds=0).valid.all()
    with GenericEnvClient(url(mirror)) as env:
        assert env.reset().done is False
    eventually(lambda: world.active() == 0)


def test_a_browser_is_told_what_is_spoken(mirror: Served) -> None:
    assert chosen(mirror, V2, V1) == V2
    assert chosen(mirror) is None
    with sockets(lambda _: None) as other, page_of(other) as page:
        assert chosen(page, V2, V1) == V1
        assert chosen(page, V2) is None


def test_the_query_is_passed_on() -> None:
    asked: list[str] = []

    def note(connection: ServerConnection) -> None:
        assert connection.request is not None
        asked.append(connection.request.path)

    with sockets(note) as other, page_of(other) as page, page.socket("/ws?wait_s=3&a=b") as socket:
        socket.closed()
    assert asked == ["/ws?wait_s=3&a=b"]


def bearer(token: str) -> str:
    return "openenv.bearer." + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def test_a_token_is_shown_there() -> None:
    with serving(World, token="word") as guarded:
        with page_of(url(guarded), "word") as page:
            assert chosen(page, V2) == V2
            code, body = status(page, subprotocols=[V2, bearer("other")])
            assert code == 401
            assert "OPENENV_TOKEN" in json.loads(body)["message"]
        with page_of(url(guarded)) as page:
            assert status(page, subprotocols=[V2])[0] == 401
            assert chosen(page, V2, bearer("word")) == V2


def test_a_token_brings_no_headers_of_its_own() -> None:
    shown: list[str | None] = []

    def note(connection: ServerConnection) -> None:
        assert connection.request is not None
        shown.append(connection.request.headers.get("X-Evil"))

    offers = [V1, bearer("word\r\nX-Evil: yes")]
    with (
        sockets(note) as other,
        page_of(other) as page,
        page.socket(subprotocols=offers) as socket,
    ):
        socket.closed()
    assert shown == [None]


def test_sessions_are_watched_through_it() -> None:
    shown: list[Any] = []

    def tell(connection: ServerConnection) -> None:
        assert connection.request is not None
        shown.append((connection.request.path, connection.request.headers["Authorization"]))
        connection.send('{"type": "sessions", "sessions": []}')

    watch = {"subprotocols": ["openenv.watch"]}
    offers = ["openenv.watch", bearer("w")]
    with (
        sockets(tell, **watch) as other,
        page_of(other) as page,
        page.socket("/web/watch", subprotocols=offers) as socket,
    ):
        assert socket.connection.subprotocol == "openenv.watch"
        assert json.loads(socket.connection.recv(PATIENCE_S))["type"] == "sessions"
    assert shown == [("/web/watch", "Bearer w")]


def test_where_nobody_answers_a_handshake_is_refused_in_words() -> None:
    gone = nobody()
    with page_of(gone, "secret-word") as page:
        code, body = status(page)
        assert code == 502
        assert gone in json.loads(body)["message"]
        assert "secret-word" not in body


def test_a_redirect_is_not_followed() -> None:
    asked: list[bool] = []
    with (
        sockets(lambda _: asked.append(True)) as thief,
        website(307, {"Location": f"{thief}/ws"}) as other,
        page_of(other, "word") as page,
    ):
        assert status(page)[0] == 502
    assert asked == []


def test_pages_of_others_get_nowhere(world: Served, mirror: Served) -> None:
    for path in ("/ws", "/web/watch"):
        assert status(mirror, path, origin="https://elsewhere.example")[0] == 403
        rebound = {"Host": f"elsewhere.example:{mirror.port}"}
        with mirror.raw() as client:
            lines = [f"{name}: {value}" for name, value in rebound.items()]
            answer = client.upgrade(*lines, request=f"GET {path} HTTP/1.1", host=None)
            assert answer.startswith(b"HTTP/1.1 403")
    for path in ("/harness", "/mcp", "/elsewhere"):
        assert status(mirror, path)[0] == 403
    assert world.active() == 0


def test_when_the_server_ends_so_does_the_pages_socket() -> None:
    with serving(World) as served, page_of(url(served)) as page, page.socket() as socket:
        socket.reset()
        served.server.should_exit = True
        assert socket.closed() in (1001, 1012)


def test_a_server_that_vanishes_is_told_from_one_that_leaves() -> None:
    def vanish(connection: ServerConnection) -> None:
        connection.socket.close()

    with sockets(vanish) as other, page_of(other) as page, page.socket() as socket:
        assert socket.closed() == 1014


def test_a_code_of_the_servers_own_arrives() -> None:
    with (
        sockets(lambda c: c.close(4001, "told so")) as other,
        page_of(other) as page,
        page.socket() as socket,
    ):
        assert socket.closed() == 4001
        assert socket.connection.close_reason == "told so"


def test_what_is_too_large_for_the_server_ends_the_socket(mirror: Served) -> None:
    with mirror.socket() as socket:
        socket.reset()
        socket.step(what="say", text="x" * (MEGABYTE // 2))
        socket.send({"type": "step", "data": {"what": "say", "text": "x" * (2 * MEGABYTE)}})
        assert socket.closed() == 1009


def test_large_observations_pass() -> None:
    with (
        sockets(lambda c: c.send("x" * (8 * MEGABYTE))) as other,
        page_of(other) as page,
        page.socket(max_size=None) as socket,
    ):
        assert len(socket.connection.recv(PATIENCE_S)) == 8 * MEGABYTE


def test_a_page_that_does_not_read_holds_the_server_back() -> None:
    sent: list[int] = []
    held = threading.Event()

    def flood(connection: ServerConnection) -> None:
        connection.socket.settimeout(2.0)  # a send that is held up for so long is held back
        try:
            for number in range(512):
                connection.send(b"x" * MEGABYTE)
                sent.append(number)
        except (ConnectionClosed, OSError):
            held.set()

    with sockets(flood) as other, page_of(other) as page, page.raw() as client:
        client.upgrade()
        assert held.wait(PATIENCE_S)
        assert len(sent) < 256


def test_a_page_that_leaves_while_it_is_told_much_leaves_nothing_behind() -> None:
    over = threading.Event()

    def flood(connection: ServerConnection) -> None:
        try:
            while True:
                connection.send(b"x" * MEGABYTE)
        except ConnectionClosed:
            over.set()

    with sockets(flood) as other, page_of(other) as page:
        with page.raw() as client:
            client.upgrade()
            client.reset()
        assert over.wait(PATIENCE_S)


def test_a_server_that_does_not_read_keeps_no_page_from_ending() -> None:
    held = threading.Event()

    def say_nothing(connection: ServerConnection) -> None:
        held.wait()

    with sockets(say_nothing, close_timeout=1) as other:
        try:
            with page_of(other) as page, page.raw() as client:
                client.upgrade()
                client.socket.settimeout(2.0)  # what is held up for so long is held back
                with pytest.raises(TimeoutError):
                    for _ in range(512):
                        client.socket.sendall(FRAME)
        finally:
            held.set()


def test_a_server_that_takes_nothing_any_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relayed, "SILENCE_S", 1.0)
    held = threading.Event()
    with sockets(lambda _: None if held.wait() else None, close_timeout=1) as other:
        try:
            with page_of(other) as page, page.socket() as socket:
                with pytest.raises(ConnectionClosed):
                    for _ in range(512):
                        socket.connection.send(b"x" * MEGABYTE)
                assert socket.closed() == 1014
        finally:
            held.set()


def test_what_a_page_says_last_arrives() -> None:
    heard: list[Any] = []
    over = threading.Event()

    def listen(connection: ServerConnection) -> None:
        heard.extend(connection)
        over.set()

    with sockets(listen) as other, page_of(other) as page:
        with page.socket() as socket:
            for number in range(100):
                socket.connection.send(str(number))
        assert over.wait(PATIENCE_S)
    assert heard == [str(number) for number in range(100)]


def test_a_page_that_leaves_before_it_is_let_in_is_no_failure() -> None:
    asked, left = threading.Event(), threading.Event()

    def slow(connection: ServerConnection, request: Any) -> None:
        asked.set()
        left.wait(PATIENCE_S)

    gone = threading.Event()

    def talk(connection: ServerConnection) -> None:
        for _ in connection:
            pass
        gone.set()

    with sockets(talk, process_request=slow) as other, page_of(other) as page:
        with page.raw() as client:
            client.socket.sendall(HANDSHAKE)
            assert asked.wait(PATIENCE_S)
        assert page.http("GET", "/web/").status == 200  # by now it is known to have left
        left.set()
        assert gone.wait(PATIENCE_S)


@pytest.mark.parametrize("code", [403, 999])
@pytest.mark.parametrize("media_types", [["text/html"], ["application/json", "text/html"], []])
def test_words_of_others_are_not_repeated(code: int, media_types: list[str]) -> None:
    headers = Headers([("Content-Type", media_type) for media_type in media_types])
    refusal = Response(code, "No", headers, b"<script>")
    with (
        sockets(lambda _: None, process_request=lambda *_: refusal) as other,
        page_of(other) as page,
    ):
        refused, body = status(page)
        assert refused == (502 if code == 999 else code)
        assert "no OpenEnv server answers" in json.loads(body)["message"]


def test_a_callers_other_secrets_stay_here() -> None:
    shown: list[list[str]] = []

    def note(connection: ServerConnection) -> None:
        assert connection.request is not None
        shown.append(connection.request.headers.get_all("Authorization"))

    basic = {"Authorization": "Basic dTpw"}
    with sockets(note) as other, page_of(other, "word") as page:
        for offers in ([V1], [V1, bearer("own")]):
            with page.socket(subprotocols=offers, additional_headers=basic) as socket:
                socket.closed()
    assert shown == [["Bearer word"], ["Bearer own"]]


def test_the_clients_token_is_for_those_who_show_the_key() -> None:
    with serving(World, token="word") as guarded, page_of(url(guarded), "word", key="key") as page:
        assert status(page, subprotocols=[V2])[0] == 401
        assert status(page, subprotocols=[V2, bearer("other")])[0] == 401
        assert chosen(page, V2, bearer("key")) == V2
        assert chosen(page, V2, bearer("word")) == V2
