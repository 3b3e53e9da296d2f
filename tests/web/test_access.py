"""Everybody can use it: axe finds nothing in any state, in both themes, down to 360 pixels."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from blackjack_env.server import BlackJackEnvironment
from coding_env.server.coding_environment import PythonCodeActEnv
from echo_env.server.echo_environment import EchoEnvironment
from tests.serving import serving
from tests.web.conftest import Visit
from tests.web.places import page_of, served_page
from tests.web.visitor import LOAD_FAILED, SOCKET_FAILED, Visitor
from tests.web.worlds import Drawing, Painting

Look = dict[str, Any]
LOOKS = {
    f"{theme}-{width}": {
        "color_scheme": theme,
        "viewport": {"width": width, "height": 900},
        "reduced_motion": "reduce",
    }
    for theme in ("light", "dark")
    for width in (1280, 360)
}


@pytest.fixture(params=LOOKS, scope="module")
def look(request: pytest.FixtureRequest) -> Iterator[Look]:
    """How the page is looked at."""
    yield LOOKS[request.param]


def check(visitor: Visitor) -> None:
    """Whether axe finds nothing, and nothing is wider than the window."""
    found = Axe().run(visitor.page)
    assert found.violations_count == 0, found.generate_report()
    wide = visitor.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0, f"the page is {wide} pixels wider than the window"


def test_an_episode_from_its_beginning_to_its_end(visit: Visit, look: Look) -> None:
    with served_page(BlackJackEnvironment) as address:
        visitor = visit(address, **look)
        check(visitor)
        visitor.reset()
        check(visitor)
        visitor.press("Stand")
        visitor.is_told("The episode is over.")
        visitor.entries.first.click()
        check(visitor)


def test_a_form_of_everything_and_its_faults(visit: Visit, look: Look) -> None:
    with served_page(Drawing) as address:
        visitor = visit(address, **look)
        visitor.reset()
        for part in ("Shape", "Points", "Options"):
            visitor.actions.get_by_role("button", name=f"Set {part}").click()
        for part in ("Points", "Options"):
            visitor.actions.get_by_role("button", name=f"Add to {part}").click()
        visitor.step_button.click()
        expect(visitor.field("Title")).to_have_attribute("aria-invalid", "true")
        check(visitor)
        visitor.write_json('{"title": ')
        check(visitor)


def test_code_and_how_it_fails(visit: Visit, look: Look) -> None:
    with served_page(PythonCodeActEnv) as address:
        visitor = visit(address, **look)
        visitor.reset()
        visitor.step(Code="def f():\n    return 'ü' # none\nprint(f(), 1 / 0)")
        visitor.sees("ZeroDivisionError")
        check(visitor)


def test_pictures(visit: Visit, look: Look) -> None:
    with served_page(Painting) as address:
        visitor = visit(address, **look)
        visitor.reset()
        check(visitor)


def test_the_other_parts_of_the_page(visit: Visit, look: Look) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address, **look)
        visitor.open_tab("README")
        check(visitor)
        visitor.open_tab("Schema")
        check(visitor)
        visitor.open_tab("Play")
        visitor.reset()
        visitor.open_tab("Tools")
        check(visitor)
        visitor.open_tab("Chat")
        check(visitor)


def test_a_locked_door_and_a_lost_episode(visit: Visit, look: Look) -> None:
    with serving(EchoEnvironment, web=True, token="word") as served:
        visitor = visit(page_of(served), arrive=False, **look)
        visitor.tolerates(LOAD_FAILED, SOCKET_FAILED)
        visitor.page.goto(visitor.address)
        visitor.is_told("asks for its token")
        check(visitor)
        visitor.show_token("word")
        visitor.reset()
        port = served.port
    expect(visitor.status).to_have_text(re.compile("reconnecting|lost"))
    with serving(EchoEnvironment, port, web=True, token="word"):
        expect(visitor.status).to_have_text("episode lost")
        check(visitor)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_is_the_systems_until_one_is_chosen(visit: Visit, theme: str) -> None:
    with served_page(EchoEnvironment) as address:
        visitor = visit(address, color_scheme=theme)
        root = visitor.page.locator("html")
        expect(root).to_have_attribute("data-theme", theme)
        visitor.page.get_by_role("button", name=re.compile("Use the .* theme")).click()
        other = "dark" if theme == "light" else "light"
        expect(root).to_have_attribute("data-theme", other)
        visitor.page.reload()
        expect(root).to_have_attribute("data-theme", other)
