"""The history: looked through, sent again, copied, kept as a file and opened again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Visit
from tests.web.places import served_page
from tests.web.snippet_world import Note, Notebook, Noted
from tests.web.visitor import Visitor
from tests.web.worlds import HOSTILE

ENVIRONMENT = {
    "address": "http://127.0.0.1:1/",
    "metadata": {"name": "Kept", "description": "", "readme_content": HOSTILE},
    "schemas": {"action": {}, "observation": {}, "state": {}},
    "config": {"version": "1", "python": None, "needs_token": False},
}
HEADER = {"format": "openenv-history", "version": 1, "dropped": 0, "environment": ENVIRONMENT}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page of a server of notebooks."""
    with served_page(Notebook, action_cls=Note, observation_cls=Noted) as address:
        yield address


@pytest.fixture
def visitor(visit: Visit, address: str) -> Visitor:
    """Somebody who has written three notes."""
    visitor = visit(address)
    visitor.reset()
    for text in ("one", "two", "three"):
        visitor.step(text=text)
    expect(visitor.entries).to_have_count(4)
    return visitor


def test_entries_are_inspected_by_keyboard_and_by_pointer(visitor: Visitor) -> None:
    box = visitor.history.get_by_role("listbox")
    box.focus()
    for key in ("Home", "ArrowDown"):
        box.press(key)
    expect(_selected(visitor)).to_contain_text('"one"')
    visitor.sees("one")
    expect(visitor.observation).not_to_contain_text("three")
    box.press("End")
    visitor.sees("three")
    visitor.entries.last.click()
    expect(_selected(visitor)).to_contain_text('"three"')
    visitor.sees("three")


def test_the_filter_shows_what_is_asked_for(visitor: Visitor) -> None:
    search = visitor.history.get_by_role("searchbox")
    search.fill('text="TWO"')
    expect(visitor.entries).to_have_count(1)
    search.fill("nothing of the kind")
    visitor.is_told("No entry matches the filter.")
    visitor.history.get_by_role("button", name="Show all").click()
    expect(visitor.entries).to_have_count(4)
    visitor.history.get_by_label("Which entries").select_option("Rewards other than 0")
    expect(visitor.entries).to_have_count(3)


def test_an_entry_is_sent_again(visitor: Visitor) -> None:
    visitor.entries.nth(1).click()
    visitor.history.get_by_role("button", name="Repeat step 1").click()
    expect(visitor.entries).to_have_count(5)
    expect(visitor.entries.last).to_contain_text('"one"')


def test_an_episode_is_copied(visitor: Visitor) -> None:
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    _menu(visitor.history, "Copy")
    visitor.history.get_by_role("button", name="Python", exact=True).click()
    visitor.is_told("Copied")
    copied = visitor.page.evaluate("navigator.clipboard.readText()")
    assert f'GenericEnvClient(base_url="{visitor.address.removesuffix("/web/")}")' in copied
    assert '"text": "three"' in copied


def test_the_history_is_forgotten_when_that_is_meant(visitor: Visitor) -> None:
    visitor.history.get_by_role("button", name="Clear").click()
    visitor.is_told("Clear 4 entries? The episode goes on.")
    visitor.page.keyboard.press("Enter")
    visitor.is_told("4 entries")
    visitor.history.get_by_role("button", name="Clear").click()
    visitor.history.get_by_role("button", name="Clear").click()
    expect(visitor.entries).to_have_count(0)
    visitor.is_told("Nothing yet. Reset begins an episode.")


@pytest.mark.parametrize("menu", ["Copy", "File"])
def test_a_menu_opens_where_there_is_room(visitor: Visitor, menu: str) -> None:
    button = visitor.history.get_by_text(menu, exact=True)
    button.evaluate("it => scrollBy(0, it.getBoundingClientRect().bottom + 10 - innerHeight)")
    button.click()
    expect(visitor.history.locator("details[open] > div")).to_be_in_viewport(ratio=1)


def test_a_chosen_entry_stays_in_sight_while_others_come(visit: Visit, address: str) -> None:
    visitor = visit(address, viewport={"width": 1280, "height": 800})
    visitor.reset()
    for number in range(30):
        visitor.step(text=f"note {number}")
    visitor.history.get_by_role("listbox").press("Home")
    expect(_selected(visitor)).to_be_in_viewport()
    expect(_selected(visitor)).to_contain_text("reset")
    visitor.page.get_by_role("button", name="Back to playing").click()
    expect(visitor.entries.last).to_contain_text("note 29")
    expect(_selected(visitor)).to_have_count(0)
    visitor.step(text="one more")
    expect(visitor.entries.last).to_contain_text("one more")


@pytest.mark.parametrize("width", [400, 1000, 1400])
def test_every_column_is_read_beside_an_older_observation(
    visit: Visit, address: str, width: int
) -> None:
    visitor = visit(address, viewport={"width": width, "height": 800})
    visitor.reset()
    visitor.step(text="one")
    visitor.is_told("The line is drawn from the second step on.")
    visitor.step(text="two")
    visitor.entries.nth(1).click()
    for column in ("reward", "total", "latency"):
        cell = _selected(visitor).locator(f".history-{column}")
        expect(cell).to_be_visible()
        assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
    buttons = visitor.history.locator(".history-buttons > *")
    rows = {each.evaluate("button => button.getBoundingClientRect().top") for each in buttons.all()}
    assert len(rows) == 1


def test_what_was_saved_as_lines_can_be_read_and_opened(visitor: Visitor, tmp_path: Path) -> None:
    lines = _saved(visitor.page, "Save as JSONL", tmp_path / "kept.jsonl")
    header, reset, *steps = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert header.items() >= {"format": "openenv-history", "version": 1, "dropped": 0}.items()
    assert reset["kind"] == "reset"
    assert [step["action"]["text"] for step in steps] == ["one", "two", "three"]
    assert [step["total_reward"] for step in steps] == [1, 3, 6]
    _open(visitor, lines)
    visitor.is_told("This is a saved history")
    expect(visitor.entries).to_have_count(4)
    visitor.page.get_by_role("button", name="Back to the environment").click()
    expect(visitor.reset_button).to_be_enabled()


def test_a_saved_page_needs_no_server_and_runs_nothing_of_an_environment(
    visit: Visit, address: str, tmp_path: Path
) -> None:
    visitor = visit(address)
    visitor.reset()
    hostile = f"</script>{HOSTILE}<!--<script>"
    visitor.step(text=hostile)
    page = _saved(visitor.page, "Save as one HTML page", tmp_path / "kept.html")
    reader = visit(page.as_uri(), arrive=False, offline=True)
    requests: list[str] = []
    reader.page.on("request", lambda request: requests.append(request.url))
    reader.page.goto(page.as_uri())
    reader.is_told("This is a saved history")
    expect(reader.entries).to_have_count(2)
    reader.entries.last.click()
    reader.sees("press me")
    reader.press_links()
    assert reader.page.evaluate("window.pwned") is None
    assert [url for url in requests if not url.startswith(("data:", "blob:"))] == [page.as_uri()]
    again = _saved(reader.page, "Save as one HTML page", tmp_path / "again.html")
    _open(visitor, again)
    expect(visitor.entries).to_have_count(2)


def test_ten_thousand_entries_draw_the_rows_that_are_seen(
    visit: Visit, address: str, tmp_path: Path
) -> None:
    kept = tmp_path / "long.jsonl"
    kept.write_text("\n".join(json.dumps(line) for line in [HEADER, *map(_step, range(10_001))]))
    visitor = visit(address)
    _open(visitor, kept)
    visitor.is_told("10,000 entries; the oldest 1 were forgotten")
    expect(visitor.entries.last).to_contain_text("n=10000")
    assert visitor.entries.count() < 100
    expect(visitor.entries.last).to_have_attribute("aria-posinset", "10000")
    visitor.history.get_by_role("listbox").press("Home")
    expect(visitor.entries.first).to_contain_text("n=1,")
    visitor.history.get_by_role("button", name="Jump to newest").click()
    expect(visitor.entries.last).to_contain_text("n=10000")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "this is not a history exported by this page"),
        (json.dumps(HEADER) + '\n{"kind": "jump"}', 'line 2: its kind is "jump"'),
        ("<html>", "this is not a history exported by this page"),
        ("\0", "this is not a history exported by this page"),
    ],
    ids=["no_header", "no_entry", "no_history", "no_text"],
)
def test_a_file_that_is_no_history_is_refused(
    visit: Visit, address: str, tmp_path: Path, content: str, reason: str
) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text(content, encoding="utf-8")
    visitor = visit(address)
    _open(visitor, kept)
    expect(visitor.history.get_by_role("alert")).to_contain_text(reason)


def _selected(visitor: Visitor) -> Locator:
    return visitor.entries.and_(visitor.page.get_by_role("option", selected=True))


def _menu(history: Locator | Page, name: str) -> None:
    history.locator("summary", has_text=name).click()


def _saved(page: Page, how: str, path: Path) -> Path:
    _menu(page, "File")
    with page.expect_download() as download:
        page.get_by_role("button", name=how).click()
    download.value.save_as(path)
    return path


def _open(visitor: Visitor, path: Path) -> None:
    visitor.history.locator("input[type=file]").set_input_files(path)


def _step(n: int) -> dict[str, Any]:
    place = {"kind": "step", "index": n, "episode": 1, "step": n + 1, "at": "2026-01-01T00:00:00Z"}
    gained = {"reward": 1, "done": False, "total_reward": n + 1, "latency_ms": 1.5}
    return {**place, "action": {"n": n, "text": "x"}, "observation": {"n": n}, **gained}
