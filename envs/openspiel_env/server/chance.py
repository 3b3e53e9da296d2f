"""Chance: the outcomes of a game's own draws, settled by a seed."""

from __future__ import annotations

import random
from typing import Protocol

from openspiel_env.server.engine import pyspiel

CARDS = 52
DEALT_TO_PLAYER, DEALT = 2, 4
PLAYER, STAND = 0, 1


class Chance(Protocol):
    """What chooses at chance nodes."""

    def outcome(self, state: pyspiel.State) -> int:
        """The outcome that a chance node is given."""


class Dice:
    """Draws each outcome from one stream, by its probability."""

    def __init__(self, seed: int) -> None:
        self._stream = random.Random(f"chance {seed}")

    def outcome(self, state: pyspiel.State) -> int:
        """Draws an outcome; each takes one number of the stream."""
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        outcome: int = self._stream.choices(outcomes, chances)[0]
        return outcome


class Deck:
    """Blackjack's deck, shuffled once: the player draws from its top, the dealer from its bottom.

    So games of one seed deal the same cards to both, whatever the player does. No more than 12
    cards go to either of them: top and bottom never meet.
    """

    def __init__(self, seed: int) -> None:
        self._cards = list(range(CARDS))
        random.Random(f"chance {seed}").shuffle(self._cards)

    def outcome(self, state: pyspiel.State) -> int:
        """The next card of whoever draws."""
        return self._cards.pop(0 if _player_draws(state) else -1)


def _player_draws(state: pyspiel.State) -> bool:
    """The deal is two cards to the player, then two to the dealer; who stands draws no more."""
    if state.move_number() < DEALT:
        return bool(state.move_number() < DEALT_TO_PLAYER)
    moves = state.full_history()[DEALT:]
    return not any(move.player == PLAYER and move.action == STAND for move in moves)


def of_game(name: str, seed: int) -> Chance:
    """The chance of a game's episode."""
    return Deck(seed) if name == "blackjack" else Dice(seed)
