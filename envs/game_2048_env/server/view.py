"""A game of 2048 as a web page shows it."""

from __future__ import annotations

from typing import Any

from game_2048_env.rules import MOVES
from openenv.env.web_html import (
    ARROW_KEYS,
    Html,
    WebAction,
    facts,
    joined,
    notice,
    page,
    refusal,
    tiles,
)

ENDINGS = {"success": "The target is reached.", "failed": "No move is left."}


def draw(seen: dict[str, Any]) -> str:
    """The board, and how a strategy did.

    Args:
        seen: an observation.
    """
    return page(
        facts({"Score": seen["score"], "Highest tile": seen["highest_tile"]}),
        refusal(seen),
        tiles(seen["board"]),
        notice(ENDINGS.get(seen["status"]), "ok" if seen["status"] == "success" else "bad"),
        _strategy(seen["strategy"]) if seen["strategy"] else None,
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The moves that change the board, in the order of their ids."""
    legal = [] if seen["done"] else seen["legal_moves"]
    return [(move, {"move": move}, ARROW_KEYS[move]) for move in MOVES if move in legal]


def _strategy(result: dict[str, Any]) -> Html:
    known = {
        "Strategy": result["reason"].replace("_", " "),
        "Its moves": result["steps"],
        "Its score": result["score"],
    }
    return joined(facts(known), notice(result["error"], "bad"))
