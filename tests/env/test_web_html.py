"""The parts of the page that an environment shows of itself."""

import pytest

from openenv.env.web_html import (
    MOST_TEXT,
    Html,
    board,
    card,
    cell,
    code,
    facts,
    hand,
    image,
    in_words,
    joined,
    notice,
    page,
    refusal,
    said,
    table,
    tag,
    text,
    tiles,
)
from tests.markup import Markup

HOSTILE = '<script>alert(\'"\')</script>&amp; " onload="x()" \' </style>'


def test_data_is_escaped_in_text_and_in_attributes() -> None:
    html = tag("p", HOSTILE, title=HOSTILE)
    assert "<script" not in html and 'onload="' not in html
    shown = Markup(html)
    assert (shown.tags, shown.words) == (["p"], " ".join(HOSTILE.split()))


@pytest.mark.parametrize(
    "part",
    [
        joined(HOSTILE),
        facts({HOSTILE: HOSTILE}),
        notice(HOSTILE),
        refusal({"text": f"Refused: {HOSTILE}"}),
        text(HOSTILE, HOSTILE),
        text(HOSTILE, HOSTILE, prose=True),
        code(HOSTILE, HOSTILE, {1}),
        said(HOSTILE, HOSTILE),
        table([HOSTILE], [[HOSTILE, HOSTILE]], HOSTILE),
        image(HOSTILE, HOSTILE),
        board([[cell(HOSTILE, HOSTILE)]], HOSTILE, HOSTILE),
        hand(HOSTILE, [card(HOSTILE, HOSTILE)], HOSTILE),
    ],
)
def test_no_part_lets_data_become_markup(part: Html) -> None:
    assert "script" not in Markup(page(part)).tags
    assert "<script" not in part


def test_markup_is_shown_as_it_is_and_nothing_is_nothing() -> None:
    assert joined(tag("b", 1), None, " < ", 2.5) == "<b>1</b> &lt; 2.5"
    assert tag("p", None, class_=None, data_row=0) == '<p data-row="0"></p>'
    assert tag("br") == "<br>"
    assert notice(None) == notice("") == ""
    assert facts({"Score": 0, "Check": None}).count("<dt>") == 1


def test_a_page_has_its_style_and_one_of_the_environment() -> None:
    html = page(tag("p", "hi"), style=".mine { color: red; }")
    assert html.startswith("<style>") and ".mine { color: red; }" in html
    assert "light-dark(" in html
    assert Markup(html).words == "hi"


def test_a_page_can_be_sent_whatever_the_text() -> None:
    assert "a?b" in page(tag("p", "a\ud800b"))


def test_long_texts_are_cut() -> None:
    shown = Markup(text("x" * (MOST_TEXT + 5))).words
    assert shown == "x" * MOST_TEXT + "… and 5 more characters"
    listing = Markup(code("\n" * 10_000, "Code"))
    assert (listing.tags.count("span"), listing.words) == (500, "Code … and 9501 more lines")
    assert len(notice("x" * 10**6)) < 2 * MOST_TEXT


def test_the_wrong_line_is_marked() -> None:
    html = code("a = 1\nb = 1 / 0\n", "Code", {2})
    assert "<mark>b = 1 / 0</mark>" in html and html.count("<mark>") == 1


def test_what_was_refused_is_said_if_anything_was() -> None:
    assert Markup(refusal({"text": "Refused: no\nthe rest"})).words == "Refused: no"
    assert refusal({"text": "the rest\nRefused: no"}) == refusal({}) == ""


def test_a_board_is_a_picture_that_is_told_in_words() -> None:
    html = board([[cell("a"), cell(kind="wall")], [cell(), cell(7)]], "two by two")
    shown = Markup(html)
    assert (shown.labels, shown.words) == (["two by two"], "a 7")
    assert 'role="img"' in html and 'style="--columns:2"' in html
    assert board([], "nothing") == (
        '<div class="board" role="img" aria-label="nothing" style="--columns:1"></div>'
    )


def test_tiles_have_the_colours_of_2048() -> None:
    shown = Markup(tiles([[0, 2], [1024, 4096]]))
    assert shown.labels == ["Row 1: empty, 2. Row 2: 1024, 4096."]
    assert shown.classes == ["board tiles", "t0", "t2", "t1024 long", "most long"]


def test_cards_are_red_or_black_or_face_down() -> None:
    assert Markup(card("A", "♥")).classes == ["card red"]
    assert Markup(card("10")).words == "10 10"
    assert Markup(card("")).words == ""


def test_a_picture_is_in_the_page_itself() -> None:
    assert 'src="data:image/png;base64,AAE="' in image(b"\0\1", "two bytes")
    assert 'src="data:image/gif;base64,AAE="' in image("AAE=", "two bytes", "image/gif")


def test_a_table_names_its_columns_and_rows() -> None:
    html = table(["Stock", "Shares"], [["A", 3]], "Holdings")
    assert '<th scope="col">Stock</th>' in html and '<th scope="row">A</th><td>3</td>' in html
    assert in_words([[1, "x"]]) == "Row 1: 1, x."
