"""A match as a web page shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_lowercase, digits
from typing import Any

from openenv.env.web_html import (
    ARROW_KEYS,
    Html,
    Part,
    WebAction,
    board,
    card,
    cell,
    facts,
    hand,
    in_words,
    joined,
    notice,
    page,
    refusal,
    text,
    tiles,
)
from openspiel_env import blackjack
from openspiel_env.server.match import Match
from openspiel_env.server.views import action_names

MOST_ACTIONS = 100
"""Legal moves that are listed; a player of more writes the number of one."""
MOST_COLUMNS = 20
"""Rows and columns of a board that is drawn."""
KEYS = {**ARROW_KEYS, "hit": "h", "stand": "s", "stay": "."}
SUITS = dict(zip(blackjack.SUITS, "♣♦♥♠", strict=True))
CELLS = {
    ".": cell(),
    "x": cell("x", "agent"),
    "o": cell("o", "goal"),
    "P": cell("P", "agent"),
    "G": cell("G", "goal"),
    "X": cell("X", "wall"),
}


def draw(seen: dict[str, Any], match: Match) -> str:
    """The board or the cards, where there are such that can be drawn, and the text.

    Args:
        seen: an observation.
        match: what it is of.
    """
    picture = PICTURES.get(match.game.name)
    known: dict[str, Part] = {
        "Game": match.game.name,
        "Seat": match.agent,
        "Paid so far": f"{match.paid:g}",
    }
    return page(
        facts(known),
        refusal(seen),
        picture(seen["info_state"]) if picture else _board(match),
        notice(f"The game is over; you got {match.paid:g}." if match.over else None),
        text(seen["text"], "In words"),
    )


def actions(seen: dict[str, Any], match: Match) -> list[WebAction]:
    """The first legal moves, by keys where it is plain which."""
    legal = seen["legal_actions"][:MOST_ACTIONS]
    return [
        _action(action, name)
        for action, name in zip(legal, action_names(match, legal), strict=True)
    ]


def _action(action: int, name: str) -> WebAction:
    sent = {"action_id": action}
    key = KEYS.get(name.lower())
    return (name, sent) if key is None else (name, sent, key)


def _blackjack(info_state: Sequence[float]) -> Html:
    table = blackjack.Table.read(info_state)
    return joined(_hand("The dealer", table.dealer), _hand("You", table.player))


def _hand(who: str, cards: Sequence[int]) -> Html:
    named = [blackjack.name(number) for number in cards]
    faces = [(name[1].replace("T", "10"), SUITS[name[0]]) for name in named]
    words = ", ".join(f"{rank}{suit}" for rank, suit in faces)
    return hand(who, [card(rank, suit) for rank, suit in faces], words or "no cards")


def _tiles(info_state: Sequence[float]) -> Html:
    numbers = [int(tile) for tile in info_state]
    return tiles([numbers[start : start + 4] for start in range(0, 16, 4)])


PICTURES: dict[str, Callable[[Sequence[float]], Html]] = {
    "blackjack": _blackjack,
    "2048": _tiles,
}


def _board(match: Match) -> Html | None:
    """The board, where the game writes it as one character a cell."""
    if not match.game.engine.get_type().provides_observation_string:
        return None
    rows = _rows(str(match.state.observation_string(match.agent)))
    drawn = [[CELLS.get(mark) or cell(mark) for mark in row] for row in rows]
    return board(drawn, in_words(rows)) if rows else None


def _rows(shown: str) -> list[str]:
    """The rows of a board, without the names of its rows and columns; none if it is no board."""
    rows = shown.split()
    if rows and len(rows[-1]) > 2 and ascii_lowercase.startswith(rows[-1]):
        rows = [row.lstrip(digits) for row in rows[:-1]]
    widths = {len(row) for row in rows}
    is_board = len(rows) > 2 and len(widths) == 1 and 2 < widths.pop() <= MOST_COLUMNS
    return rows if is_board and len(rows) <= MOST_COLUMNS else []
