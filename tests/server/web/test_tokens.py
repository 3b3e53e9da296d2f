"""Tokens that a page shows, and what each of them opens."""

import base64
import json
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from openenv import ConfigurationError
from openenv.protocol.envelope import Encoding
from openenv.runtime.limits import Limits
from openenv.server.app import create_app
from tests.server.worlds import World
from tests.serving import PATIENCE_S, Served, serving

V2 = Encoding.JSON.value
FOREIGN = "https://elsewhere.example"


def bearer(token: str) -> str:
    return "openenv.bearer." + base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")


def status(served: Served, path: str, *offers: str, **options: Any) -> int:
    """The status of a handshake."""
    try:
        with served.socket(path, subprotocols=offers or None, **options):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def chosen(served: Served, *offers: str) -> str | None:
    with served.socket(subprotocols=offers) as socket:
        return socket.connection.subprotocol


def test_a_page_shows_its_token_among_the_subprotocols() -> None:
    with serving(World, token="open-sesame~!?") as served:
        assert chosen(served, V2, bearer("open-sesame~!?")) == V2
        assert chosen(served, bearer("open-sesame~!?"), "openenv.v1") == "openenv.v1"
        for wrong in (bearer("sesame"), "openenv.bearer.", "openenv.bearer.a", "openenv.bearer.%"):
            assert status(served, "/ws", V2, wrong) == 401
        assert status(served, "/ws", V2) == 401


def test_a_header_goes_before_a_subprotocol() -> None:
    with serving(World, token="word") as served:
        headers = {"Authorization": "Bearer wrong"}
        assert status(served, "/ws", V2, bearer("word"), additional_headers=headers) == 401


def test_a_token_is_never_given_back() -> None:
    with serving(World, token="word") as served, served.raw() as client:
        answer = client.upgrade(f"Sec-WebSocket-Protocol: {bearer('word')}")
        assert answer.startswith(b"HTTP/1.1 101 ")
        assert b"bearer" not in answer.lower()
        assert b"sec-websocket-protocol" not in answer.lower()


def test_a_token_beside_a_header_is_not_given_back_either() -> None:
    with serving(World, web=True, token="word") as served:
        headers = {"Authorization": "Bearer word"}
        offers = (bearer("other"), "mine")
        with served.socket("/ws/ui", subprotocols=offers, additional_headers=headers) as socket:
            assert socket.connection.subprotocol == "mine"


def test_a_token_for_all_does_not_control(caplog: pytest.LogCaptureFixture) -> None:
    with serving(World, token="word", control_token="control", mode="production") as served:
        assert status(served, "/ws", V2, bearer("control")) == 101
        for path in ("/reset", "/state"):
            assert served.http("GET", path).status == 401
    assert "word" not in caplog.text


def test_the_page_is_there_before_any_token_is_shown() -> None:
    with serving(World, web=True, token="word") as served:
        for path in ("/web/", "/web/app.js", "/web/frame.html", "/web/config.json"):
            assert served.http("GET", path).status == 200
        assert served.http("GET", "/").status == 307
        assert served.http("POST", "/web/", {}).status == 401
        for path in ("/web/other", "/schema", "/metadata", "/web/../schema"):
            assert served.http("GET", path).status == 401


def test_pages_of_others_get_nowhere() -> None:
    with serving(World, web=True, watch_token="w") as served:
        for origin in (FOREIGN, "null"):
            for path in ("/", "/schema", "/web/nothing", "/web/metadata"):
                assert served.http("GET", path, headers={"Origin": origin}).status == 403
            assert served.http("POST", "/web/frame.js", {}, {"Origin": origin}).status == 403
        for path in ("/ws", "/web/watch"):
            assert status(served, path, V2, bearer("w"), origin=FOREIGN) == 403
        own = f"http://127.0.0.1:{served.port}"
        assert status(served, "/ws", V2, origin=own) == 101
        assert status(served, "/ws", V2, origin="http://127.0.0.1:1") == 403


def test_the_pages_frame_which_has_no_origin_gets_its_script() -> None:
    with serving(World, web=True, token="word") as served:
        answer = served.http("GET", "/web/frame.js", headers={"Origin": "null"})
        assert answer.status == 200
        assert "cross-origin-resource-policy" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


@pytest.fixture(scope="module")
def watched() -> Any:
    limits = Limits(capacity=4)
    with serving(World, web=True, watch_token="watch", control_token="control", limits=limits) as s:
        yield s


def test_the_watch_token_opens_nothing_else(watched: Served) -> None:
    shown = {"Authorization": "Bearer watch"}
    for path in ("/schema", "/metadata", "/state", "/docs"):
        assert watched.http("GET", path, None, shown).status == 401
    assert watched.http("POST", "/reset", {}, shown).status == 401
    assert watched.http("POST", "/mcp", {}, shown).status == 401
    for path in ("/ws", "/mcp"):
        assert status(watched, path, V2, bearer("watch")) == 401
    assert watched.http("GET", "/health", None, shown).json() == {"status": "healthy"}
    assert watched.active() == 0


@pytest.mark.parametrize("token", ["watch", "control"])
def test_two_tokens_watch(watched: Served, token: str) -> None:
    offers = ["openenv.watch", bearer(token)]
    with watched.socket("/web/watch", subprotocols=offers) as socket:
        assert socket.connection.subprotocol == "openenv.watch"
        told = json.loads(socket.connection.recv(PATIENCE_S))
        assert told == {"type": "sessions", "sessions": []}


@pytest.mark.parametrize("other", ["token", "control_token"])
def test_a_watch_token_is_no_other_one(other: str) -> None:
    options: Any = {other: "one-word", "watch_token": "one-word"}
    with pytest.raises(ConfigurationError, match="value of its own") as refused:
        create_app(World, **options)
    assert "one-word" not in str(refused.value)


def test_who_may_watch_says_so(watched: Served) -> None:
    assert status(watched, "/web/watch") == 401
    assert status(watched, "/web/watch", "openenv.watch", bearer("nothing")) == 401
    with serving(World, web=True) as served:
        assert status(served, "/web/watch", "openenv.watch", bearer("watch")) == 401
    with serving(World, token="word", watch_token="watch") as served:
        assert status(served, "/web/watch", "openenv.watch", bearer("word")) == 401
