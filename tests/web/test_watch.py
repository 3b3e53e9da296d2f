"""Watch mode: a trainer's sessions, as they step."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.web.conftest import Visit
from tests.web.places import served_page
from tests.web.snippet_world import Note, Notebook, NotebookClient, Noted
from tests.web.visitor import SOCKET_FAILED, Visitor

TOKEN = "only-to-look-on"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page of a server whose sessions may be watched."""
    with served_page(
        Notebook, action_cls=Note, observation_cls=Noted, watch_token=TOKEN
    ) as address:
        yield address


@pytest.fixture
def watcher(visit: Visit, address: str) -> Visitor:
    """Somebody who looks on."""
    watcher = visit(address)
    watcher.open_tab("Watch")
    _show(watcher, TOKEN)
    return watcher


def test_no_session_is_there_before_one_begins(watcher: Visitor) -> None:
    watcher.is_told("No session is running.")


def test_a_picked_session_is_seen_as_it_steps(watcher: Visitor, address: str) -> None:
    with NotebookClient(base_url=address.removesuffix("web/")).sync() as trainer:
        trainer.reset(episode_id="the-third")
        trainer.step(Note(text="before"))
        expect(watcher.page.get_by_role("row", name="the-third")).to_be_visible()
        watcher.page.get_by_role("checkbox").check()
        card = _card(watcher)
        expect(card).to_contain_text("before")
        trainer.step(Note(text="after"))
        expect(card).to_contain_text("after")
        expect(card).to_contain_text("Step 2, reward +2, total 3")
        card.get_by_text("History since it is watched").click()
        entries = card.get_by_role("listbox").get_by_role("option")
        expect(entries).to_have_count(2)
        assert _bottom(card.get_by_role("listbox")) < _bottom(card)
        expect(card.get_by_role("button", name=re.compile("^Repeat"))).to_have_count(0)
        trainer.reset()
        expect(entries).to_have_count(3)
    expect(card.get_by_text("closed", exact=True)).to_be_visible()
    watcher.is_told("No session is running.")
    card.get_by_role("button", name="Leave").click()
    expect(card).to_have_count(0)


def test_a_pause_is_not_recorded_and_what_was_missed_is_counted(
    watcher: Visitor, address: str
) -> None:
    with NotebookClient(base_url=address.removesuffix("web/")).sync() as trainer:
        trainer.reset()
        watcher.page.get_by_role("checkbox").check()
        expect(watcher.page.get_by_role("columnheader", name="Episode", exact=True)).to_have_count(
            0
        )
        card = _card(watcher)
        expect(card).to_contain_text("Step 0")
        watcher.page.get_by_role("button", name="Pause").click()
        watcher.is_told("paused")
        for count in range(4):
            trainer.step(Note(text=f"note {count}"))
        expect(watcher.page.get_by_role("row").last).to_contain_text("4")
        expect(card).to_contain_text("Step 0")
        watcher.page.get_by_role("button", name="Go on").click()
        expect(card).to_contain_text("Step 4, reward +4, total 10")
        expect(card).to_contain_text("3 skipped")


def test_a_wrong_token_is_refused_and_another_asked_for(visit: Visit, address: str) -> None:
    visitor = visit(address)
    visitor.tolerates(SOCKET_FAILED)
    visitor.open_tab("Watch")
    _show(visitor, "wrong")
    visitor.is_told("The server does not accept this token")
    _show(visitor, TOKEN)
    visitor.is_told("No session is running.")


def test_without_a_token_of_the_server_there_is_nothing_to_watch(visit: Visit) -> None:
    with served_page(Notebook, action_cls=Note, observation_cls=Noted) as address:
        visitor = visit(address)
        expect(visitor.page.get_by_role("tab", name="Play")).to_be_visible()
        expect(visitor.page.get_by_role("tab", name="Watch")).to_have_count(0)


def _show(visitor: Visitor, token: str) -> None:
    visitor.page.get_by_label("Watch token").fill(token)
    visitor.page.get_by_role("button", name="Watch", exact=True).click()


def _card(watcher: Visitor) -> Locator:
    return watcher.page.get_by_role("region", name="Session s")


def _bottom(shown: Locator) -> float:
    box = shown.bounding_box()
    assert box
    return box["y"] + box["height"]
