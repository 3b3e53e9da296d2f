"""A maze as a web page shows it."""

from __future__ import annotations

from typing import Any

from maze_env.trip import NAMES
from openenv.env.web_html import ARROW_KEYS, WebAction, board, cell, notice, page, refusal

FREE, WALL, BEEN = cell(), cell(kind="wall"), cell(kind="been")
AGENT, EXIT = cell("●", "agent"), cell("⚑", "goal")
ENDINGS = {"win": "You are out.", "lose": "Lost: the way was too long."}


def draw(seen: dict[str, Any]) -> str:
    """The walls, where one is and was, and the way out.

    Args:
        seen: an observation.
    """
    rows = [[WALL if wall else FREE for wall in row] for row in seen["maze"]]
    places = ("previous_position", BEEN), ("exit_cell", EXIT), ("current_position", AGENT)
    for name, drawn in places:
        column, row = seen[name]
        rows[row][column] = drawn
    ways = ", ".join(NAMES[action] for action in seen["legal_actions"]) or "nowhere"
    label = (
        f"A maze of {len(rows)} rows and {len(rows[0])} columns. You are in "
        f"{_place(seen['current_position'])}, the way out is in {_place(seen['exit_cell'])}; "
        f"you can go {ways}."
    )
    status = seen["status"]
    return page(
        refusal(seen),
        board(rows, label),
        notice(ENDINGS.get(status), "ok" if status == "win" else "bad"),
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The steps that nothing blocks, by arrow keys."""
    return [
        (NAMES[action], {"action": action}, ARROW_KEYS[NAMES[action]])
        for action in sorted(seen["legal_actions"])
    ]


def _place(cell: list[int]) -> str:
    column, row = cell
    return f"row {row + 1}, column {column + 1}"
