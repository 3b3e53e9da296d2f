"""A match as a web page shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from openspiel_env import blackjack, tic_tac_toe
from openspiel_env.server.match import Match
from openspiel_env.server.views import action_names

MOST_ACTIONS = 100
"""Legal moves that are listed; a player of more writes the number of one."""
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
    """The board or the cards of the games that are known here, and the text of all.

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
        picture(seen["info_state"], match) if picture else None,
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


def _blackjack(info_state: Sequence[float], match: Match) -> Html:
    table = blackjack.Table.read(info_state)
    return joined(_hand("The dealer", table.dealer), _hand("You", table.player))


def _hand(who: str, cards: Sequence[int]) -> Html:
    named = [blackjack.name(number) for number in cards]
    faces = [(name[1].replace("T", "10"), SUITS[name[0]]) for name in named]
    words = ", ".join(f"{rank}{suit}" for rank, suit in faces)
    return hand(who, [card(rank, suit) for rank, suit in faces], words or "no cards")


def _tic_tac_toe(info_state: Sequence[float], match: Match) -> Html:
    return _cells([row.split() for row in tic_tac_toe.board(info_state).split("\n")])


def _tiles(info_state: Sequence[float], match: Match) -> Html:
    numbers = [int(tile) for tile in info_state]
    return tiles([numbers[start : start + 4] for start in range(0, 16, 4)])


def _grid(info_state: Sequence[float], match: Match) -> Html:
    return _cells([list(row) for row in str(match.state.observation_string(match.agent)).split()])


def _cells(rows: Sequence[Sequence[str]]) -> Html:
    drawn = [[CELLS.get(mark) or cell(mark) for mark in row] for row in rows]
    return board(drawn, in_words(rows))


PICTURES: dict[str, Callable[[Sequence[float], Match], Html]] = {
    "blackjack": _blackjack,
    "tic_tac_toe": _tic_tac_toe,
    "2048": _tiles,
    "catch": _grid,
    "cliff_walking": _grid,
}
