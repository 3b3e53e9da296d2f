"""What a browser finds at a server's address."""

import re
from typing import Any

import pytest
from fastapi import FastAPI

from openenv.env.metadata import EnvironmentMetadata
from openenv.server.app import create_app
from tests.server.worlds import World
from tests.serving import serving


class Named(World):
    def get_metadata(self) -> EnvironmentMetadata:
        return EnvironmentMetadata(name="<b>orld", description="Walls & <script>ways</script>")


class Nameless(World):
    def get_metadata(self) -> EnvironmentMetadata:
        raise ValueError("no card today")


@pytest.mark.parametrize("path", ["/", "/web"])
def test_a_page_says_what_is_served_and_links_to_the_rest(path: str) -> None:
    with serving(Named) as server:
        answer = server.http("GET", path)
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/html")
        page = answer.body.decode()
        assert "<h1>&lt;b&gt;orld</h1>" in page
        assert "Walls &amp; &lt;script&gt;ways" in page
        links = re.findall('href="(.*?)"', page)
        assert links == ["/docs", "/health", "/schema", "/metadata"]
        assert {server.http("GET", link).status for link in links} == {200}
        assert server.http("POST", path, {}).status == 404
        assert server.active() == 0


def test_a_card_that_fails_leaves_a_page() -> None:
    with serving(Nameless, env_name="nameless_env") as server:
        assert "<h1>nameless_env</h1>" in server.http("GET", "/").body.decode()


async def got(app: FastAPI, path: str) -> str:
    """What an application answers, as text."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode()}
    await app({**scope, "query_string": b"", "headers": [], "root_path": ""}, receive, send)
    return b"".join(event.get("body", b"") for event in sent).decode()


async def test_an_app_keeps_its_own_page() -> None:
    app = create_app(Named)

    @app.get("/")
    async def home() -> str:
        return "mine"

    assert await got(app, "/") == '"mine"'
    assert "<h1>" in await got(app, "/web")


async def test_links_lead_to_where_an_app_is_mounted() -> None:
    outer = FastAPI()
    outer.mount("/games/world", create_app(Named))
    assert 'href="/games/world/docs"' in await got(outer, "/games/world/web")


def test_who_asks_for_the_web_interface_is_told_by_what_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ENABLE_WEB_INTERFACE", "true")
    create_app(Named)
    assert caplog.messages == [
        "--web and ENABLE_WEB_INTERFACE=true have no effect: this version has no web interface"
    ]
