"""A walk on the grid as a web page shows it."""

from __future__ import annotations

from typing import Any

from grid_world_env.models import MoveAction
from openenv.env.web_html import ARROW_KEYS, Kind, WebAction, board, cell, notice, page, refusal

CELLS = (cell(), cell("●", "agent"), cell("⚑", "goal"))


def draw(seen: dict[str, Any]) -> str:
    """The walker and the goal.

    Args:
        seen: an observation.
    """
    rows, (row, column) = seen["grid"], seen["goal"]
    label = (
        f"A grid of {len(rows)} rows and columns. You are in row {seen['x'] + 1}, column "
        f"{seen['y'] + 1}; the goal is in row {row + 1}, column {column + 1}."
    )
    drawn = [[CELLS[kind] for kind in cells] for cells in rows]
    kind: Kind = "ok" if [seen["x"], seen["y"]] == seen["goal"] else ""
    return page(refusal(seen), board(drawn, label), notice(seen["message"], kind))


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The four moves, by arrow keys."""
    names = [] if seen["done"] else [move.value for move in MoveAction]
    return [(name.lower(), {"action": name}, ARROW_KEYS[name.lower()]) for name in names]
