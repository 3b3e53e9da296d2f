"""A table of BlackJack as a web page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blackjack_env.rules import ACE, Total, total
from openenv.env.web_html import Html, Kind, WebAction, card, hand, notice, page, refusal

ENDINGS = {"win": "You win.", "push": "A draw.", "lose": "The dealer wins."}
KINDS: dict[str, Kind] = {"win": "ok", "push": "", "lose": "bad"}
KEYS = {"hit": "h", "stand": "s"}


def draw(seen: dict[str, Any]) -> str:
    """Both hands, and how the game ended.

    Args:
        seen: an observation.
    """
    result = seen["result"]
    return page(
        refusal(seen),
        _hand("The dealer", seen["dealer_cards"], hidden=result is None),
        _hand("You", seen["player_cards"]),
        notice(ENDINGS[result], KINDS[result]) if result else None,
    )


def actions(seen: dict[str, Any]) -> list[WebAction]:
    """What the player may do."""
    return [(move, {"move": move}, KEYS[move]) for move in seen["legal_actions"]]


def _hand(who: str, cards: Sequence[int], *, hidden: bool = False) -> Html:
    ranks = ["A" if card == ACE else str(card) for card in cards]
    drawn = [card(rank) for rank in ranks] + [card("")] * hidden
    words = ", ".join(ranks) + ", and a card that lies face down" * hidden
    return hand(f"{who}: {_counted(total(cards))}", drawn, words)


def _counted(hand: Total) -> str:
    kind = "bust with " if hand.bust else "soft " if hand.soft else ""
    return f"{kind}{hand.points}"
