"""Hostile words, wherever an environment can say something: nothing of them runs or freezes."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Request, expect

from tests.web.conftest import Visit
from tests.web.places import served_page
from tests.web.visitor import Visitor
from tests.web.worlds import SAYINGS, Hostile

OWN_REFUSALS = ("Content Security Policy", "sandboxed", "ERR_BLOCKED_BY_CSP")
"""What the browser may say of the words that it did not run."""


class Kept:
    """What happened in the browser."""

    def __init__(self) -> None:
        self.all: list[Any] = []

    def keep(self, it: Any) -> None:
        self.all.append(it)


@pytest.fixture
def victim(visit: Visit) -> Iterator[Visitor]:
    """A visitor of a hostile environment, who is unharmed in the end."""
    with served_page(Hostile) as address:
        visitor = visit(address, arrive=False)
        visitor.tolerates(*OWN_REFUSALS)
        asked = Kept()
        dialogs = Kept()
        page = visitor.page
        page.on("request", asked.keep)
        page.on("dialog", dialogs.keep)
        visitor.arrive()
        yield visitor
        for frame in page.frames:
            assert frame.evaluate("window.pwned") is None
        assert page.evaluate("({}).pwned") is None
        assert page.url == address
        assert {request.url for request in asked.all if not _is_own(request, address)} == set()
        assert not dialogs.all


def _is_own(request: Request, address: str) -> bool:
    """Whether a request went to the page's own server, or the page's policy let it go nowhere."""
    own = (address.removesuffix("web/"), "data:", "blob:")
    return request.url.startswith(own) or request.failure == "csp"


def test_the_card_the_readme_the_schema_and_the_tools(victim: Visitor) -> None:
    victim.open_tab("README")
    victim.is_told("press me")
    victim.press_links()
    victim.open_tab("Schema")
    victim.open_tab("Play")
    victim.reset()
    victim.open_form()
    victim.open_tab("Tools")
    victim.sees_action("call")
    victim.press_links()


@pytest.mark.parametrize("what", sorted({*SAYINGS, "keys", "deep", "numbers", "wide"}))
def test_observations(victim: Visitor, what: str) -> None:
    victim.reset()
    victim.write_json(f'{{"what": "{what}"}}')
    victim.step()
    expect(victim.entries).to_have_count(2)
    victim.press_links()
    victim.observation.get_by_role("button", name="Raw").click()
    victim.entries.first.click()
    victim.entries.last.click()
    victim.back_to_playing()
    victim.step()
    expect(victim.entries).to_have_count(3)


def test_the_environments_own_view_and_its_buttons(victim: Visitor) -> None:
    victim.reset()
    view = victim.observation.frame_locator("iframe")
    expect(view.locator("body")).to_contain_text("the view")
    victim.press_links()
    victim.press("<script>")
    expect(victim.entries).to_have_count(2)
