"""A board of Connect Four as a web page shows it."""

from __future__ import annotations

from typing import Any

from connect4_env.board import COLUMNS
from openenv.env.web_html import WebAction, board, cell, in_words, notice, page, refusal, tag

NAMES = {1: "X (red)", -1: "O (yellow)"}
STONES = {0: cell(kind="empty"), 1: cell("X", "red"), -1: cell("O", "yellow")}
STYLE = """
.stones { background: #2348a8; gap: 4px; padding: 6px; }
.stones > span { border-radius: 50%; background: light-dark(#f5f6f9, #0f1218); font-weight: 700;
  font-size: calc(44cqw / var(--columns)); }
.stones > .red { background: #c9302c; color: #fff; }
.stones > .yellow { background: #f2c230; color: #3a2d00; }
.columns { display: grid; grid-template-columns: repeat(7, 1fr); width: min(100%, 28rem);
  text-align: center; color: var(--muted); }
"""


def draw(seen: dict[str, Any]) -> str:
    """The stones, the columns' numbers, and whose turn it is.

    Args:
        seen: an observation.
    """
    rows, winner = seen["board"], seen["winner"]
    label = in_words([["·XO"[stone] for stone in row] for row in rows])
    numbers = [tag("span", column) for column in range(COLUMNS)]
    return page(
        refusal(seen),
        board([[STONES[stone] for stone in row] for row in rows], label, "stones"),
        tag("div", *numbers, class_="columns", aria_hidden="true"),
        notice(_standing(seen), "" if winner is None else "ok"),
        style=STYLE,
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The columns that are not full, by the keys of their numbers."""
    return [
        (f"column {column}", {"column": column}, str(column)) for column in seen["legal_actions"]
    ]


def _standing(seen: dict[str, Any]) -> str:
    winner, answered = seen["winner"], seen["opponent_column"]
    if winner is not None:
        return f"{NAMES[winner]} wins." if winner else "A draw."
    last = "" if answered is None else f" The opponent played column {answered}."
    return f"{NAMES[seen['next_player']]} to move.{last}"
