"""The page of an evaluation: whole in itself, safe, and readable on every screen."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from openenv.evals import Evaluation, compare, html_report
from openenv.evals.charts import Axis
from openenv.evals.comparing import together
from openenv.evals.tables import Table
from tests.evals.test_comparing import noisy, side

EVIL = "<script>alert(1)</script>\"'&"


class Tags(HTMLParser):
    """The elements of a page, and what they refer to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.references: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]


def evaluated(first: str = "one", second: str = "other") -> Evaluation:
    rewards = [*noisy(0.0), None]
    return together(side(first, noisy(1.0)), side(second, rewards))


def page(first: str = "one", second: str = "other") -> str:
    outcome = compare(side(first, noisy(1.0)), side(second, noisy(0.0)))
    return html_report(evaluated(first, second), outcome)


def test_a_page_needs_nothing_else() -> None:
    text = page()
    tags = Tags(text)
    assert not tags.references
    assert not {"script", "link", "img", "iframe"} & set(tags.names)
    assert not re.search(r"https?://|@import|url\(", text)


def test_a_page_says_what_was_found() -> None:
    text = page()
    assert "one is better than other, by the rewards of 20 seeds" in text
    assert "1 of 21 episodes are in no mean" in text
    assert "no reward was given in 1 steps" in text
    assert text.count("<svg") >= 5


def test_what_others_named_is_text() -> None:
    text = page(EVIL, f"{EVIL}2")
    assert "script" not in Tags(text).names
    assert "&lt;script&gt;" in text


def test_plots_are_xml_that_says_what_it_shows() -> None:
    for drawing in re.findall(r"<svg.*?</svg>", page(EVIL, "other"), re.DOTALL):
        assert ElementTree.fromstring(drawing).get("aria-label")


def test_a_page_of_nothing_is_one_too() -> None:
    empty = together(side("one", [None]), side("other", [None]))
    text = html_report(empty)
    assert "one: no episode has a reward that counts" in text


@pytest.mark.parametrize(
    "values", [[], [0.0], [3.0, 3.0], [-1.0, 1.0], [1e-9, 2e-9], [-1e12, 5.0], [0.1, 0.7]]
)
def test_an_axis_has_room_for_all_and_round_numbers(values: list[float]) -> None:
    axis = Axis.over(values)
    assert all(axis.low <= value <= axis.high for value in values)
    assert 2 <= len(axis.ticks) <= 14
    assert axis.low < axis.high


def test_figures_are_split_for_narrow_terminals() -> None:
    table = Table(["policy", "mean", "n"], [["random", "0.1", "20"]])
    assert table.split(2) == (
        Table(["policy", "mean"], [["random", "0.1"]]),
        Table(["policy", "n"], [["random", "20"]]),
    )
