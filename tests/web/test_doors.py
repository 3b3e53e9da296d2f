"""Who is let in: other sites, tokens, production; and where the page may be."""

import pytest
from playwright.sync_api import expect

from echo_env.server.echo_environment import EchoEnvironment
from tests.serving import eventually, serving
from tests.web.conftest import Visit
from tests.web.places import other_site, page_of, served_page, served_under
from tests.web.visitor import LOAD_FAILED, SOCKET_FAILED
from tests.web.worlds import Drawing

TOKEN = "a-secret+/?~"
OPENS_SOCKET = """address => new Promise(resolve => {
    const socket = new WebSocket(address, ["openenv.v2+json"]);
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
})"""


def test_pages_of_other_sites_get_no_socket(visit: Visit) -> None:
    with serving(EchoEnvironment, web=True) as served, other_site("<p>evil</p>") as elsewhere:
        visitor = visit(elsewhere, arrive=False)
        visitor.tolerates(SOCKET_FAILED)
        visitor.page.goto(elsewhere)
        for host in ("127.0.0.1", "localhost"):
            address = f"ws://{host}:{served.port}/ws"
            assert visitor.page.evaluate(OPENS_SOCKET, address) == "refused"
        assert served.active() == 0


def test_pages_of_other_sites_may_not_frame_the_page(visit: Visit) -> None:
    with served_page(EchoEnvironment) as address, other_site("<p>host</p>") as elsewhere:
        visitor = visit(elsewhere, arrive=False)
        visitor.tolerates("frame-ancestors")
        visitor.page.goto(elsewhere)
        visitor.page.set_content(f"<iframe src='{address}'></iframe>")
        eventually(lambda: visitor.page.evaluate("1") and visitor.troubles)
        frame = visitor.page.frame_locator("iframe")
        expect(frame.get_by_role("button", name="Reset")).to_have_count(0)


def test_the_page_plays_in_a_frame_of_a_site_that_may(visit: Visit) -> None:
    with other_site("<p>host</p>") as elsewhere:
        variables = {"OPENENV_ALLOWED_ORIGINS": elsewhere.removesuffix("/")}
        with served_page(Drawing, variables=variables) as address:
            visitor = visit(elsewhere, arrive=False)
            visitor.page.goto(elsewhere)
            visitor.page.set_content(f"<iframe src='{address}' width=1000 height=1500></iframe>")
            visitor.within(visitor.page.frame_locator("iframe"))
            visitor.reset()
            visitor.step(Title="framed")
            visitor.sees("framed")


def test_the_page_plays_under_a_path(visit: Visit) -> None:
    with served_under("/spaces/me", Drawing) as served:
        visitor = visit(page_of(served, "/spaces/me"))
        visitor.reset()
        visitor.step(Title="far away")
        visitor.sees("far away")
        visitor.page.goto(f"http://127.0.0.1:{served.port}/spaces/me/")
        assert visitor.page.url == page_of(served, "/spaces/me")


def test_a_server_with_a_token_asks_for_it_and_never_shows_it(visit: Visit) -> None:
    with serving(Drawing, web=True, token=TOKEN) as served:
        visitor = visit(page_of(served), arrive=False)
        visitor.tolerates(LOAD_FAILED, SOCKET_FAILED)
        addresses: list[str] = []
        visitor.page.on("request", lambda request: addresses.append(request.url))
        visitor.page.goto(visitor.address)
        visitor.is_told("asks for its token")
        visitor.show_token("wrong")
        visitor.is_told("The token is not this server's.")
        visitor.show_token(TOKEN)
        visitor.reset()
        visitor.step(Title="let in")
        visitor.sees("let in")
        assert not any("secret" in address for address in addresses)


@pytest.mark.parametrize("mode", ["simulation", "production"])
def test_nobody_plays_without_the_control_token_where_there_is_one(visit: Visit, mode: str) -> None:
    with serving(Drawing, web=True, mode=mode, control_token=TOKEN) as served:
        visitor = visit(page_of(served))
        visitor.tolerates(LOAD_FAILED, SOCKET_FAILED)
        visitor.reset_button.click()
        visitor.is_told("control token")
        expect(visitor.status).to_have_text("refused")
        eventually(lambda: served.active() == 0)
        visitor.show_token(TOKEN)
        visitor.reset()
        visitor.step(Title="let in")
        visitor.sees("let in")


def test_the_page_is_absent_where_it_is_off(visit: Visit) -> None:
    with serving(EchoEnvironment, web=False) as served:
        assert served.http("GET", "/web/").status == 404
        assert served.http("GET", "/").status == 404
