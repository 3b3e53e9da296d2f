"""The web page: where it is, how it is sent, and what a browser may do on it."""

import gzip
from typing import Any

import pytest
from fastapi import FastAPI

from openenv.core.env_server import create_web_interface_app
from openenv.server.app import create_app
from openenv.server.web.assets import STATIC, names
from tests.server.worlds import Do, Saw, World
from tests.serving import Served, serving, serving_app

APP_JS = (STATIC / "app.js").read_bytes()


@pytest.fixture(scope="module")
def paged() -> Any:
    with serving(World, web=True) as served:
        yield served


@pytest.mark.parametrize("path", ["/", "/web"])
def test_the_root_leads_to_it(paged: Served, path: str) -> None:
    answer = paged.http("GET", path)
    assert (answer.status, answer.headers["location"]) == (307, "web/")
    assert paged.http("GET", f"{path}?theme=dark").headers["location"] == "web/?theme=dark"
    assert paged.http("POST", path, {}).status in (404, 405)


def test_it_is_html_that_names_its_own_files(paged: Served) -> None:
    answer = paged.http("GET", "/web/")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b"app.js" in answer.body
    assert paged.active() == 0


@pytest.mark.parametrize("name", sorted(names()))
def test_every_file_is_sent(paged: Served, name: str) -> None:
    answer = paged.http("GET", f"/web/{name}")
    assert answer.status == 200
    assert answer.body == (STATIC / name).read_bytes()
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] != "application/octet-stream"


def test_who_takes_gzip_gets_it(paged: Served) -> None:
    zipped = paged.http("GET", "/web/app.js", headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(zipped.body) == APP_JS
    for accepted in ("", "br", "gzip;q=0", "identity"):
        plain = paged.http("GET", "/web/app.js", headers={"Accept-Encoding": accepted})
        assert "content-encoding" not in plain.headers
        assert plain.body == APP_JS


def test_what_a_browser_has_is_not_sent_again(paged: Served) -> None:
    plain = paged.http("GET", "/web/app.js")
    zipped = paged.http("GET", "/web/app.js", headers={"Accept-Encoding": "gzip"})
    assert plain.headers["etag"] != zipped.headers["etag"]
    for tag in (plain.headers["etag"], f'"x", W/{zipped.headers["etag"]}', "*"):
        again = paged.http("GET", "/web/app.js", headers={"If-None-Match": tag})
        assert (again.status, again.body) == (304, b"")
        assert "content-security-policy" in again.headers
    assert paged.http("GET", "/web/app.js", headers={"If-None-Match": '"x"'}).status == 200


@pytest.mark.parametrize("path", ["/", "/web", "/web/", "/web/app.js", "/web/config.json"])
def test_head_is_get_without_a_body(paged: Served, path: str) -> None:
    got, head = paged.http("GET", path), paged.http("HEAD", path)
    assert (head.status, head.body) == (got.status, b"")
    assert {**head.headers, "date": ""} == {**got.headers, "date": ""}


@pytest.mark.parametrize(
    "path",
    [
        "/web/nothing.js",
        "/web/../options.py",
        "/web/%2e%2e/options.py",
        "/web/..%2foptions.py",
        "/web//app.js",
        "/web/static/app.js",
        "/web/app.js/",
        "/web/app.js%00",
        "/web/.",
        "//",
        "/webapp.js",
    ],
)
def test_there_is_nothing_else(paged: Served, path: str) -> None:
    assert paged.http("GET", path).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_is_only_read(paged: Served, method: str) -> None:
    assert paged.http(method, "/web/app.js", {}).status in (404, 405)


def rules(served: Served, path: str, **headers: str) -> dict[str, str]:
    """The Content-Security-Policy of an answer, by directive."""
    policy = served.http("GET", path, headers=headers).headers["content-security-policy"]
    parted = (rule.partition(" ") for rule in policy.split("; "))
    return {name: value for name, _, value in parted}


def test_a_browser_runs_its_own_scripts_alone(paged: Served) -> None:
    own = f"127.0.0.1:{paged.port}"
    assert rules(paged, "/web/") == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "frame-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "connect-src": f"'self' ws://{own} wss://{own}",
        "frame-ancestors": "'self' https://huggingface.co",
    }


def test_what_is_said_of_its_host_lets_it_talk_to_nobody_else(paged: Served) -> None:
    own = rules(paged, "/web/")
    for said in ("elsewhere.example", "x; script-src *"):
        assert rules(paged, "/web/", **{"X-Forwarded-Host": said}) == own
    forged = rules(paged, "/web/", Host="x; script-src *")
    assert forged == {**own, "connect-src": "'self'"}


def test_the_frame_of_an_environment_has_no_origin(paged: Served) -> None:
    told = rules(paged, "/web/frame.html")
    assert told["sandbox"] == "allow-scripts"
    assert told["style-src"] == "'unsafe-inline'"
    assert "connect-src" not in told


def test_origins_that_may_call_may_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENENV_ALLOWED_ORIGINS", "https://lab.example, https://a; script-src *")
    with serving(World, web=True) as served:
        told = rules(served, "/web/")
        assert told["frame-ancestors"] == "'self' https://huggingface.co https://lab.example"
        assert told["script-src"] == "'self'"


@pytest.mark.parametrize("said", ["true", "1", "YES"])
def test_a_variable_asks_for_it(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("ENABLE_WEB_INTERFACE", said)
    with serving(World) as served:
        assert served.http("GET", "/web/").status == 200
    with serving(World, web=False) as served:
        assert served.http("GET", "/web/").status == 404
    with serving(World, variables={}) as served:
        assert served.http("GET", "/web/").status == 404


def test_without_it_its_paths_are_as_any_unknown_one() -> None:
    with serving(World) as served:
        unknown = served.http("GET", "/nothing")
        for path in ("/", "/web", "/web/", "/web/app.js", "/web/config.json"):
            answer = served.http("GET", path)
            assert (answer.status, answer.body) == (404, unknown.body)


def test_a_class_a_factory_or_an_instance_has_one() -> None:
    def factory() -> World:
        return World()

    for env in (World, factory, World()):
        app = create_web_interface_app(env, Do, Saw, "my_world")
        with serving_app(app) as served:
            assert served.http("GET", "/web/").status == 200
            assert served.http("GET", "/metadata").json()["name"] in ("my_world", "World")


def test_an_app_keeps_its_own_page() -> None:
    app = create_app(World, web=True)

    @app.get("/")
    async def home() -> str:
        return "mine"

    with serving_app(app) as served:
        assert served.http("GET", "/").json() == "mine"
        assert served.http("GET", "/web/").status == 200


def test_it_is_there_where_an_app_is_mounted() -> None:
    inner = create_app(World, web=True)
    outer = FastAPI()
    outer.mount("/games/world", inner)
    outer.state.openenv = inner.state.openenv
    with serving_app(outer) as served:
        assert served.http("GET", "/games/world/web").headers["location"] == "web/"
        assert served.http("GET", "/games/world/").headers["location"] == "web/"
        assert served.http("GET", "/games/world/web/app.js").body == APP_JS
        assert served.http("GET", "/web/app.js").status == 404


@pytest.mark.parametrize("root_path", ["", "/games/world", "/we"])
def test_it_is_there_behind_a_proxy_that_cuts_off_a_prefix(root_path: str) -> None:
    """Whether the application was told of the prefix, or not, or of another."""
    app = create_app(World, web=True, token="word")
    app.root_path = root_path
    with serving_app(app) as served:
        assert served.http("GET", "/").headers["location"] == "web/"
        assert served.http("GET", "/web").headers["location"] == "web/"
        assert served.http("GET", "/web/app.js").status == 200
        assert served.http("GET", "/web/config.json").json()["needs_token"] is True
        assert served.http("GET", "/schema").status == 401


def test_production_has_it_too() -> None:
    with serving(World, web=True, mode="production") as served:
        assert served.http("GET", "/web/").status == 200
        assert served.http("GET", "/web/config.json").json()["mode"] == "production"
