"""One game of BlackJack, from the deal to its result."""

from __future__ import annotations

import random

from blackjack_env.rules import Result, Total, compare, draw, total


class Game:
    """A game whose cards are settled by its seed.

    The player's and the dealer's cards come from streams of their own, so that games of one seed
    deal the same cards in the same order whatever the player does. The dealer's hidden card is not
    drawn before the player stands: there is nothing that could leak.

    Attributes:
        seed: what settles the cards.
        player_cards: the player's hand.
        dealer_cards: the dealer's open cards.
        result: how the game ended, `None` while it runs.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._player_stream = random.Random(f"player {seed}")
        self._dealer_stream = random.Random(f"dealer {seed}")
        self.player_cards = [draw(self._player_stream), draw(self._player_stream)]
        self.dealer_cards = [draw(self._dealer_stream)]
        self.result: Result | None = None

    @property
    def player(self) -> Total:
        """What the player's hand counts."""
        return total(self.player_cards)

    @property
    def dealer(self) -> Total:
        """What the dealer's open cards count."""
        return total(self.dealer_cards)

    def hit(self) -> None:
        """Deals the player another card."""
        self.player_cards.append(draw(self._player_stream))
        if self.player.bust:
            self._finish()

    def stand(self) -> None:
        """Lets the dealer play."""
        while self.dealer.dealer_draws:
            self.dealer_cards.append(draw(self._dealer_stream))
        self._finish()

    def _finish(self) -> None:
        self.result = compare(self.player, self.dealer)
