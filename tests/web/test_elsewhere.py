"""The page of a server elsewhere, as `openenv web` serves it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.interop.serving import PEER, PEER_VENV, served, uvicorn
from tests.project.page.mirrored import nobody
from tests.project.page.mirrored import page_of as mirrored
from tests.serving import serving
from tests.web.conftest import Visit
from tests.web.places import page_of
from tests.web.visitor import LOAD_FAILED
from tests.web.worlds import Drawing

TOKEN = "a-secret-word"


@pytest.fixture
def peer_server() -> Iterator[str]:
    if not (PEER_VENV / ".ready-peer").exists():
        pytest.skip("NOT TESTED: the peer's server, as it isn't installed (scripts/venv peer)")
    with served(*uvicorn(PEER, "tiny_app")) as url:
        yield url


def test_an_episode_there_goes_on_after_a_reload(visit: Visit) -> None:
    with (
        serving(Drawing, token=TOKEN) as far,
        mirrored(f"http://127.0.0.1:{far.port}", TOKEN) as near,
    ):
        visitor = visit(page_of(near))
        visitor.reset()
        visitor.step(Title="far away")
        visitor.sees("far away")
        visitor.page.reload()
        visitor.step(Title="still there")
        visitor.sees("still there")
        assert TOKEN not in visitor.page.content()


@pytest.mark.interop
def test_the_peers_server_is_played(visit: Visit, peer_server: str) -> None:
    with mirrored(peer_server) as near:
        visitor = visit(page_of(near), arrive=False)
        visitor.tolerates(LOAD_FAILED)
        visitor.arrive()
        visitor.reset()
        visitor.step(Message="hello")
        visitor.sees("hello")


def test_a_server_that_is_not_there_is_named(visit: Visit) -> None:
    gone = nobody()
    with mirrored(gone) as near:
        visitor = visit(page_of(near), arrive=False)
        visitor.tolerates(LOAD_FAILED)
        visitor.page.goto(visitor.address)
        expect(visitor.page.get_by_text(gone).first).to_be_visible()


def test_a_token_in_the_address_is_used_and_leaves_it(visit: Visit) -> None:
    with (
        serving(Drawing, token=TOKEN) as far,
        mirrored(f"http://127.0.0.1:{far.port}", TOKEN, key="key-of-this-run") as near,
    ):
        visitor = visit(f"{page_of(near)}#token=key-of-this-run")
        visitor.reset()
        visitor.step(Title="let in")
        visitor.sees("let in")
        assert visitor.page.url == page_of(near)
        visitor.page.reload()
        visitor.step(Title="still in")
        visitor.sees("still in")
