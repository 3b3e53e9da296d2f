"""OpenSpiel's blackjack, read back from its 189 numbers.

`info_state` is `[0:3]` the phase, `[3:33]` a thermometer of the player's total, `[33:85]` the
dealer's up-card, `[85:137]` the player's cards and `[137:189]` the dealer's open cards, each of 52
numbers. A card's place is its suit (clubs, diamonds, hearts, spades) times 13 plus its rank (ace to
king).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

SIZE = 189
SUITS, RANKS = "CDHS", "A23456789TJQK"
CARDS = len(SUITS) * len(RANKS)
UP_CARD, PLAYER, DEALER = 33, 85, 137
DEALER_TURN = 2
BEST_TOTAL = 21


def name(card: int) -> str:
    """A card's name: `CA` is the ace of clubs, `HT` the ten of hearts."""
    return SUITS[card // len(RANKS)] + RANKS[card % len(RANKS)]


def value(card: int) -> int:
    """What a card counts: an ace 1, a face card 10."""
    return min(card % len(RANKS) + 1, 10)


@dataclass(frozen=True)
class Table:
    """The open cards of a game, as numbers from 0 to 51.

    Attributes:
        player: the player's hand, in the order of the numbers.
        dealer: the dealer's open cards, the up-card first.
        dealer_played: whether the dealer's turn has come: the player stands, or is bust.
    """

    player: tuple[int, ...]
    dealer: tuple[int, ...]
    dealer_played: bool

    @classmethod
    def read(cls, info_state: Sequence[float]) -> Table:
        """Takes an `info_state` of blackjack apart.

        Raises:
            ValueError: it does not have blackjack's 189 numbers.
        """
        if len(info_state) != SIZE:
            raise ValueError(f"blackjack's info_state has {SIZE} numbers, got {len(info_state)}")
        up_card, player, dealer = (
            [card for card in range(CARDS) if info_state[start + card]]
            for start in (UP_CARD, PLAYER, DEALER)
        )
        rest = [card for card in dealer if card not in up_card]
        return cls(tuple(player), tuple(up_card + rest), bool(info_state[DEALER_TURN]))

    def total(self) -> tuple[int, bool]:
        """What the player's hand counts, and whether an ace counts 11 in it."""
        return total(self.player)

    def text(self, reward: float | None = None) -> str:
        """The table in two lines, as in `you soft 16 dealer 10 act` and the cards by name.

        Args:
            reward: what the game paid, once it is over.
        """
        points, soft = self.total()
        dealer = " ".join(str(value(card)) for card in self.dealer)
        kind = "soft" if soft else "hard"
        hidden = "" if self.dealer_played else " ??"
        return (
            f"you {kind} {points} dealer {dealer} {_result(reward)}\n"
            f"your cards {' '.join(map(name, self.player))}, "
            f"dealer's cards {' '.join(map(name, self.dealer))}{hidden}"
        )


def total(cards: Sequence[int]) -> tuple[int, bool]:
    """What cards count together, and whether an ace counts 11: where that is no bust."""
    values = [value(card) for card in cards]
    soft = 1 in values and sum(values) + 10 <= BEST_TOTAL
    return sum(values) + 10 * soft, soft


def _result(reward: float | None) -> Literal["act", "win", "push", "lose"]:
    if reward is None:
        return "act"
    if reward == 0:
        return "push"
    return "win" if reward > 0 else "lose"
