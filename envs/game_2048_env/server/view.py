"""A game of 2048 as a web page shows it."""

from __future__ import annotations

from typing import Any

from game_2048_env.rules import MOVES
from openenv.env.web_html import (
    ARROW_KEYS,
    Html,
    WebAction,
    facts,
    notice,
    page,
    refusal,
    tiles,
)


def draw(seen: dict[str, Any]) -> str:
    """The board, and how a strategy did.

    Args:
        seen: an observation.
    """
    return page(
        facts({"Score": seen["score"], "Highest tile": seen["highest_tile"]}),
        _said(seen),
        tiles(seen["board"]),
        _strategy(seen["strategy"]) if seen["strategy"] else None,
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """The moves that change the board, in the order of their ids."""
    legal = [] if seen["done"] else seen["legal_moves"]
    return [(move, {"move": move}, ARROW_KEYS[move]) for move in MOVES if move in legal]


def _said(seen: dict[str, Any]) -> Html:
    """The one thing to say: how it ended, why nothing happened, or why a strategy was not run."""
    error = seen["strategy"] and seen["strategy"]["error"]
    if seen["status"] == "success":
        return notice("The target is reached.", "ok")
    if seen["status"] == "failed":
        lost = f"The strategy ended the game: {error}" if error else "No move is left."
        return notice(lost, "bad")
    return refusal(seen) or notice(error and f"The strategy was not run: {error}", "bad")


def _strategy(result: dict[str, Any]) -> Html:
    known = {
        "Strategy": result["reason"].replace("_", " "),
        "Its moves": result["steps"],
        "Its score": result["score"],
    }
    return facts(known)
