"""A snake in its field as a web page shows it."""

from __future__ import annotations

from typing import Any

from openenv.env.web_html import ARROW_KEYS, WebAction, board, cell, facts, notice, page, refusal
from snake_env.arena import FRUIT, HEAD, HEADINGS, NAMES, TURNS

HEADS = {"up": "▲", "right": "▶", "down": "▼", "left": "◀"}
CELLS = (
    cell(),
    cell(kind="wall"),
    cell(kind="fruit"),
    *[cell(kind="snake")] * 2,
    cell(kind="tail"),
)
STYLE = """
.field { gap: 1px; max-width: 27rem; }
.field > .fruit { background-image: radial-gradient(circle, #d0342c 55%, transparent 60%); }
.field > .snake { background: light-dark(#2c8c4a, #4fb872); color: light-dark(#fff, #0d1526); }
.field > .head { background: light-dark(#176232, #8ce3a6); border-radius: 30%; }
.field > .tail { background: light-dark(#7cc093, #357a4c); border-radius: 40%; }
"""


def draw(seen: dict[str, Any]) -> str:
    """The field and the score.

    Args:
        seen: an observation.
    """
    known = {
        "Fruits": seen["episode_fruits"],
        "Score": f"{seen['episode_score']:.3f}",
        "Steps": seen["episode_steps"],
    }
    head = cell(HEADS.get(seen["heading"]), "snake head")
    drawn = [[head if kind == HEAD else CELLS[kind] for kind in row] for row in seen["grid"]]
    return page(
        facts(known),
        refusal(seen),
        board(drawn, _label(seen), "field"),
        notice(None if seen["alive"] else "The snake is dead.", "bad"),
        style=STYLE,
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The turns, each by the arrow key of where it goes."""
    if seen["done"]:
        return []
    heading = HEADINGS.index(seen["heading"])
    keys = [ARROW_KEYS[HEADINGS[(heading + turn) % len(HEADINGS)]] for turn in TURNS]
    return [
        (name, {"action": action}, key)
        for action, (name, key) in enumerate(zip(NAMES, keys, strict=True))
    ]


def _label(seen: dict[str, Any]) -> str:
    rows = seen["grid"]
    at = ", ".join(f"row {row + 1}, column {column + 1}" for row, column in _cells(rows, HEAD))
    fruits = "; ".join(f"row {row + 1}, column {column + 1}" for row, column in _cells(rows, FRUIT))
    return (
        f"A field of {len(rows)} rows and {len(rows[0])} columns. The snake's head is at "
        f"{at or 'the wall'}, heading {seen['heading']}; fruits: {fruits or 'none'}."
    )


def _cells(rows: list[list[int]], kind: int) -> list[tuple[int, int]]:
    return [
        (row, column)
        for row, cells in enumerate(rows)
        for column, found in enumerate(cells)
        if found == kind
    ]
