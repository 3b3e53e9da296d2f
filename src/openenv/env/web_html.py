"""HTML that an environment shows of itself in the browser; all that is data is escaped.

`render_web` builds its page of these parts, and of `tag` for anything else:

    return page(facts({"Score": observation["score"]}), board(cells, "a board of …"))

A page is shown alone in a frame that runs no script and loads nothing, as wide as a phone or a
desk, light or dark: `--text`, `--muted`, `--panel`, `--raised`, `--border`, `--accent`,
`--on-accent`, `--ok`, `--bad` and `--mono` are the page's colours and font, and `light-dark(…)`
gives others.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from itertools import chain
from typing import Any, Literal, TypeAlias

MOST_TEXT = 20_000
"""Characters of a text that are shown."""
MOST_CODE_LINES = 500
"""Lines of code that are shown."""
ARROW_KEYS = {"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight"}
"""The keys that browsers call so, for the actions of `web_actions` that go somewhere."""
WebAction: TypeAlias = tuple[str, dict[str, Any]] | tuple[str, dict[str, Any], str]
"""What `web_actions` lists: a button's label, the action to send, and maybe a browser's key."""
_VOID = {"img", "br", "hr"}


class Html(str):
    """Markup, which is shown as it is. Any other text is escaped where it becomes part of it."""

    __slots__ = ()


Part: TypeAlias = str | float | None
"""Markup, text or a number; `None` is nothing."""
Kind: TypeAlias = Literal["", "ok", "bad"]
"""What a line tells: something, something good, something bad."""


def tag(element: str, *parts: Part, **attributes: Part) -> Html:
    """An element.

    Args:
        element: its name, such as `p`.
        *parts: what is in it.
        **attributes: by name, `class_` for `class` and `aria_label` for `aria-label`; one that is
            `None` is left out.
    """
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    opened = f"<{element}{said}>"
    return Html(opened if element in _VOID else f"{opened}{joined(*parts)}</{element}>")


def joined(*parts: Part) -> Html:
    """Parts, one after the other."""
    return Html(
        "".join(
            part if isinstance(part, Html) else escape(str(part))
            for part in parts
            if part is not None
        )
    )


def page(*parts: Part, style: str = "") -> str:
    """A whole view: its parts from top to bottom, with the style of all that is here.

    Args:
        *parts: what is shown.
        style: CSS of the environment's own; never data.
    """
    html = f"<style>{_style()}{style}</style>{tag('div', *parts, class_='env')}"
    return html.encode("utf-8", "replace").decode()  # half a character could not be sent


@cache
def _style() -> str:
    return (resources.files("openenv.env") / "web_html.css").read_text(encoding="utf-8")


# --- words --------------------------------------------------------------------------------------


def facts(known: Mapping[str, Part]) -> Html:
    """A row of names and values, such as a score; what is `None` is left out."""
    rows = [
        tag("div", tag("dt", name), tag("dd", value))
        for name, value in known.items()
        if value is not None
    ]
    return tag("dl", *rows, class_="facts")


def notice(line: str | None, kind: Kind = "") -> Html:
    """A line that stands out, such as how a game ended; nothing if it is empty."""
    return tag("p", shortened(line), class_=f"notice {kind}".strip()) if line else Html()


def refusal(observation: Mapping[str, Any]) -> Html:
    """Why the last action was refused, where the observation's `text` begins with that.

    Args:
        observation: its `text` may begin with a line `Refused: …`.
    """
    first = str(observation.get("text", "")).partition("\n")[0]
    return notice(first if first.startswith("Refused:") else None, "bad")


def text(content: str, title: str | None = None, *, prose: bool = False) -> Html:
    """A text with its lines and spaces as they are.

    Args:
        content: the text; of a long one the beginning is shown.
        title: what is written above it.
        prose: it is read, not looked at: in the font of the page.
    """
    shown = tag("pre", shortened(content), class_="text prose" if prose else "text")
    return tag("section", tag("h2", title) if title else None, shown)


def code(content: str, title: str, marked: Collection[int] = ()) -> Html:
    """A listing with numbered lines.

    Args:
        content: the code; of a long one the beginning is shown.
        title: what is written above it.
        marked: the numbers of lines that are marked as wrong, from 1.
    """
    lines = shortened(content).split("\n")
    listing = [
        tag("span", tag("mark", line) if number in marked else line)
        for number, line in enumerate(lines[:MOST_CODE_LINES], 1)
    ]
    drawn = _scrolled(tag("pre", *listing, class_="text code"), title)
    more = len(lines) - MOST_CODE_LINES
    rest = tag("p", f"… and {more} more lines") if more > 0 else None
    return tag("section", tag("h2", title), drawn, rest)


def said(who: str, words: str, *, mine: bool = False) -> Html:
    """Something that was said, in a bubble.

    Args:
        who: who said it.
        words: what was said.
        mine: the player of the page said it.
    """
    kind = "said mine" if mine else "said"
    return tag("div", tag("b", who), tag("span", shortened(words)), class_=kind)


def shortened(content: str) -> str:
    """A text of which at most `MOST_TEXT` characters are left, and how many more there were."""
    more = len(content) - MOST_TEXT
    return content if more <= 0 else f"{content[:MOST_TEXT]}… and {more} more characters"


def table(head: Sequence[Part], rows: Iterable[Sequence[Part]], title: str) -> Html:
    """A table.

    Args:
        head: the names of its columns.
        rows: its cells; the first of each row names it.
        title: its caption.
    """
    names = tag("thead", tag("tr", *[tag("th", name, scope="col") for name in head]))
    lines = [
        tag("tr", tag("th", first, scope="row"), *[tag("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    drawn = tag("table", tag("caption", title), names, tag("tbody", *lines))
    return _scrolled(drawn, title)


def _scrolled(wide: Html, title: str) -> Html:
    """What may be wider than the page; its own scroll bar is reached by keys."""
    return tag("div", wide, class_="wide", role="region", aria_label=title, tabindex=0)


# --- pictures -----------------------------------------------------------------------------------


def image(content: bytes | str, label: str, mime: str = "image/png") -> Html:
    """A picture.

    Args:
        content: the file, as bytes or in base64.
        label: what is to be seen in it.
        mime: the kind of the file.
    """
    encoded = b64encode(content).decode() if isinstance(content, bytes) else content
    drawn = tag("img", src=f"data:{mime};base64,{encoded}", alt=label)
    return tag("div", drawn, class_="picture")


def cell(content: Part = None, kind: str = "") -> Html:
    """A square of a board.

    Args:
        content: what stands on it.
        kind: classes that colour it; there are `wall`, `been`, `goal` and `agent`.
    """
    return tag("span", content, class_=kind or None)


def board(rows: Sequence[Sequence[Html]], label: str, kind: str = "") -> Html:
    """A board of squares.

    Args:
        rows: the squares (`cell`) of each row from the top; all rows are as long.
        label: the board in words.
        kind: classes of the board.
    """
    return tag(
        "div",
        *chain.from_iterable(rows),
        class_=f"board {kind}".strip(),
        role="img",
        aria_label=label,
        style=f"--columns:{len(rows[0]) if rows else 1}",
    )


def tiles(rows: Sequence[Sequence[int]]) -> Html:
    """The tiles of 2048, in the colours that everybody knows.

    Args:
        rows: the tiles of each row from the top; 0 is an empty cell.
    """
    label = in_words([[tile or "empty" for tile in row] for row in rows])
    return board([[_tile(tile) for tile in row] for row in rows], label, "tiles")


def _tile(tile: int) -> Html:
    colour = f"t{tile}" if tile <= 2048 else "most"
    return cell(tile or None, f"{colour} long" if tile > 999 else colour)


def in_words(rows: Iterable[Iterable[Part]]) -> str:
    """A small board in words: `Row 1: 2, empty. Row 2: …`."""
    return " ".join(
        f"Row {number}: {', '.join(map(str, row))}." for number, row in enumerate(rows, 1)
    )


def card(rank: str, suit: str = "") -> Html:
    """A playing card.

    Args:
        rank: `A`, `10`, `K`; none is a card that lies face down.
        suit: one of `♠♥♦♣`, if it has one.
    """
    if not rank:
        return tag("span", class_="card back")
    kind = "card red" if suit in ("♥", "♦") else "card"
    return tag("span", f"{rank}{suit}", tag("b", suit or rank), class_=kind)


def hand(title: str, cards: Sequence[Html], label: str) -> Html:
    """A row of cards.

    Args:
        title: whose they are, and what they count.
        cards: the cards (`card`).
        label: the cards in words.
    """
    drawn = tag("div", *cards, class_="hand", role="img", aria_label=label)
    return tag("figure", tag("figcaption", title), drawn)
