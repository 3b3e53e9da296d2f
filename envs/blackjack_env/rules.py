"""The rules of BlackJack: hit or stand, against a dealer who may not choose.

Cards come from an infinite deck and are numbered by value: 1 is an ace, 10 any ten or face card.
The dealer takes cards below 17 and stands on every 17, also a soft one. A natural (ace and ten in
the first two cards) counts 21 and nothing more.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

Move = Literal["hit", "stand"]
Result = Literal["win", "push", "lose"]

MOVES: tuple[Move, ...] = ("hit", "stand")
REWARDS: dict[Result, float] = {"win": 1.0, "push": 0.0, "lose": -1.0}

ACE = 1
DECK = (ACE, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)
BEST_TOTAL = 21
DEALER_STANDS_ON = 17


class Total(NamedTuple):
    """What a hand counts, and whether one of its aces counts 11 in it."""

    points: int
    soft: bool

    def plus(self, card: int) -> Total:
        """The total after one more card."""
        hard = self.points - 10 if self.soft else self.points
        has_ace = self.soft or card == ACE
        soft = has_ace and hard + card + 10 <= BEST_TOTAL
        return Total(hard + card + 10 if soft else hard + card, soft)

    @property
    def bust(self) -> bool:
        """Whether the hand is over 21."""
        return self.points > BEST_TOTAL

    @property
    def dealer_draws(self) -> bool:
        """Whether a dealer with this hand takes another card: the dealer's whole policy."""
        return self.points < DEALER_STANDS_ON


EMPTY = Total(0, soft=False)


def total(cards: Sequence[int]) -> Total:
    """Counts a hand, an ace as 11 where that does not bust it."""
    hand = EMPTY
    for card in cards:
        hand = hand.plus(card)
    return hand


def draw(stream: random.Random) -> int:
    """The next card of a stream."""
    return stream.choice(DECK)


def compare(player: Total, dealer: Total) -> Result:
    """Who wins once both have their last card; a player who is bust has lost in any case."""
    if player.bust:
        return "lose"
    if dealer.bust or player.points > dealer.points:
        return "win"
    return "push" if player.points == dealer.points else "lose"
