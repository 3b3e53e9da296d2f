"""What the page of a server elsewhere asks over HTTP."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from fastapi import FastAPI
from starlette.responses import RedirectResponse

from openenv._version import __version__
from openenv.server.app import create_app
from tests.project.page.mirrored import nobody, page_of, website
from tests.server.worlds import World
from tests.serving import RawSocket, Served, serving, serving_app

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def url(served: Served) -> str:
    return f"http://127.0.0.1:{served.port}"


@pytest.fixture(scope="module")
def world() -> Iterator[Served]:
    with serving(World, web=True, env_name="far_world") as served:
        yield served


@pytest.fixture(scope="module")
def mirror(world: Served) -> Iterator[Served]:
    with page_of(url(world)) as page:
        yield page


@pytest.mark.parametrize("path", ["/schema", "/metadata", "/health"])
def test_the_server_is_described_as_by_itself(world: Served, mirror: Served, path: str) -> None:
    answer = mirror.http("GET", path)
    assert answer.status == 200
    assert answer.json() == world.http("GET", path).json()


def test_calls_of_tools_are_passed_on(world: Served, mirror: Served) -> None:
    assert mirror.post("/mcp", LIST).json() == world.post("/mcp", LIST).json()
    refused = mirror.http("POST", "/mcp", b"{}", {"Content-Type": "text/plain"})
    assert refused.status == 415


def test_the_page_is_there(mirror: Served) -> None:
    assert mirror.http("GET", "/").headers["location"] == "web/"
    answer = mirror.http("GET", "/web/")
    assert b"app.js" in answer.body
    policy = answer.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy.split("; ")


def test_it_is_told_what_the_server_tells_its_own(world: Served, mirror: Served) -> None:
    own = world.http("GET", "/web/config.json").json()
    assert mirror.http("GET", "/web/config.json").json() == {**own, "target": url(world)}


def test_a_server_without_a_page_gets_one() -> None:
    with serving(World) as bare, page_of(url(bare)) as page:
        told = page.http("GET", "/web/config.json").json()
        assert told["target"] == url(bare)
        assert told["reset"] is None
        assert told["needs_token"] is False


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/reset"),
        ("POST", "/step"),
        ("GET", "/state"),
        ("GET", "/docs"),
        ("GET", "/openapi.json"),
        ("GET", "/schema/../state"),
        ("GET", "//elsewhere.example/schema"),
        ("POST", "/schema"),
        ("GET", "/mcp"),
        ("GET", "/schema/"),
        ("GET", "/schema%2f..%2fstate"),
    ],
)
def test_nothing_else_is_passed_on(mirror: Served, method: str, path: str) -> None:
    assert mirror.http(method, path, {} if method == "POST" else None).status in (404, 405)


def test_a_pages_token_goes_before_the_clients() -> None:
    with serving(World, web=True, token="word") as guarded:
        with page_of(url(guarded), "word") as page:
            assert page.http("GET", "/web/config.json").json()["needs_token"] is False
            assert page.http("GET", "/schema").status == 200
            wrong = page.http("GET", "/schema", None, {"Authorization": "Bearer other"})
            assert wrong.status == 401
        with page_of(url(guarded)) as page:
            assert page.http("GET", "/web/config.json").json()["needs_token"] is True
            assert page.http("GET", "/schema").status == 401
            assert page.http("GET", "/schema", None, {"Authorization": "Bearer word"}).status == 200


def test_where_nobody_answers_the_page_says_so() -> None:
    gone = nobody()
    with page_of(gone, "secret-word") as page:
        assert page.http("GET", "/web/").status == 200
        assert page.http("GET", "/web/config.json").json()["target"] == gone
        answer = page.http("GET", "/schema")
        assert answer.status == 502
        assert gone in answer.json()["message"]
        assert "secret-word" not in answer.body.decode()
        assert page.post("/mcp", LIST).status == 502


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"Content-Type": "text/html"}),
        (404, {"Content-Type": "text/html"}),
        (200, {}),
        (200, {"Content-Type": "application/jsonp"}),
        (200, {"Content-Type": "application/json\r\n folded"}),
        (200, {"Content-Type": "application/json\0"}),
        (101, {"Content-Type": "application/json"}),
        (302, {"Content-Type": "application/json"}),
        (999, {"Content-Type": "application/json"}),
    ],
)
def test_what_is_no_server_of_environments_is_told(status: int, headers: dict[str, str]) -> None:
    with website(status, headers) as other, page_of(other) as page:
        answer = page.http("GET", "/schema")
        assert answer.status == 502
        assert "no OpenEnv server answers" in answer.json()["message"]
        assert page.http("GET", "/web/config.json").json()["target"] == other


def test_an_answer_is_json_whatever_else_it_is_called() -> None:
    headers = {"Content-Type": "application/json; charset=x\r\n y", "X-Evil": "yes"}
    with website(403, headers, b"<script>") as other, page_of(other) as page:
        answer = page.http("GET", "/schema")
        assert (answer.status, answer.body) == (403, b"<script>")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "x-evil" not in {name.lower() for name in answer.headers}


def test_a_server_leads_to_no_other() -> None:
    secret = {"Content-Type": "application/json"}
    with (
        website(200, secret, b'{"secret": 1}') as inner,
        website(307, {"Location": f"{inner}/schema"}) as other,
        page_of(other) as page,
    ):
        answer = page.http("GET", "/schema")
        assert answer.status == 502
        assert b"secret" not in answer.body
        assert page.http("GET", "/web/config.json").json()["target"] == other


def test_a_server_may_lead_on_within_itself() -> None:
    outer = FastAPI()
    outer.state.openenv = None
    outer.get("/schema")(lambda: RedirectResponse("/there"))
    outer.get("/there")(lambda: {"action": {}})
    with serving_app(outer) as far, page_of(url(far)) as page:
        assert page.http("GET", "/schema").json() == {"action": {}}


def test_what_a_config_holds_is_believed_where_it_is_as_servers_say_it() -> None:
    said = {
        "version": 7,
        "mode": "evil",
        "watch": "yes",
        "needs_token": 1,
        "reset": [],
        "python": {"module": "os; os.abort()", "client": "C", "action": None},
        "tools": None,
        "chat": True,
        "custom": {"path": "//elsewhere.example"},
        "evil": "<script>",
    }
    headers = {"Content-Type": "application/json"}
    with website(200, headers, json.dumps(said).encode()) as other, page_of(other) as page:
        assert page.http("GET", "/web/config.json").json() == {
            "version": __version__,
            "mode": "simulation",
            "watch": False,
            "needs_token": False,
            "target": other,
            "custom": None,
            "reset": None,
            "python": None,
            "tools": True,
            "chat": True,
        }


def test_the_clients_token_is_for_those_who_show_the_key() -> None:
    def shown(page: Served, token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return page.http("GET", "/schema", None, headers).status

    with serving(World, token="word") as guarded, page_of(url(guarded), "word", key="key") as page:
        assert page.http("GET", "/schema").status == 401
        assert [shown(page, token) for token in ("other", "key", "word")] == [401, 200, 200]


def test_a_callers_other_secrets_stay_here() -> None:
    with serving(World, token="word") as guarded, page_of(url(guarded), "word") as page:
        basic = {"Authorization": "Basic dTpw"}
        assert page.http("GET", "/schema", None, basic).status == 200


@pytest.mark.parametrize("body", [b"[1", b"[" * 200_000, b'{"reset":' * 190 + b"1" + b"}" * 190])
def test_a_config_that_is_none_is_left_out(body: bytes) -> None:
    with website(200, {"Content-Type": "application/json"}, body) as other, page_of(other) as page:
        told = page.http("GET", "/web/config.json")
        assert (told.status, told.json()["target"]) == (200, other)


def test_a_request_goes_to_its_path_however_it_is_spelt(world: Served, mirror: Served) -> None:
    for path in ("/schema%0a", "/schema?x=%0d%0aX-Evil:%20yes"):
        assert mirror.http("GET", path).json() == world.http("GET", "/schema").json()


def test_a_server_under_a_path_is_asked_there() -> None:
    inner = create_app(World, web=True)
    outer = FastAPI(lifespan=inner.router.lifespan_context)
    outer.mount("/games/world", inner)
    outer.state.openenv = inner.state.openenv
    with serving_app(outer) as far, page_of(f"{url(far)}/games/world") as page:
        assert page.http("GET", "/schema").status == 200
        assert page.http("GET", "/web/config.json").json()["reset"] is not None
        with page.socket() as episode:
            episode.reset()


def test_the_end_waits_for_no_server_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute, ExitStack() as held:
        with page_of(f"http://127.0.0.1:{mute.getsockname()[1]}") as page:
            client = held.enter_context(RawSocket(page.port).socket)
            client.sendall(b"GET /schema HTTP/1.1\r\nHost: localhost\r\n\r\n")
            asked = held.enter_context(mute.accept()[0])
            assert asked.recv(65536).startswith(b"GET /schema ")
        asked.setblocking(False)
        with pytest.raises(BlockingIOError):  # it is still waited for, but not by the page
            asked.recv(1)


def test_pages_of_others_get_nowhere(mirror: Served) -> None:
    foreign = {"Origin": "https://elsewhere.example"}
    assert mirror.http("GET", "/schema", None, foreign).status == 403
    assert mirror.http("POST", "/mcp", LIST, foreign).status == 403
    rebound = {"Host": f"elsewhere.example:{mirror.port}"}
    for path in ("/schema", "/web/", "/web/config.json"):
        assert mirror.http("GET", path, None, rebound).status == 403
    assert mirror.http("GET", "/schema", None, {"Host": f"localhost:{mirror.port}"}).status == 200
