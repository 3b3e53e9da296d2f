"""Exact values of BlackJack policies, by dynamic programming instead of by sampling.

A policy is a function from a `Situation` to the probability of hitting. There are 280 situations,
so the value of a policy is computed to the last digit within milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from blackjack_env.rules import ACE, BEST_TOTAL, DECK, EMPTY, Total, compare

UP_CARDS = tuple(range(ACE, 11))
CARD_CHANCE = 1 / len(DECK)


class Situation(NamedTuple):
    """Everything a player may base a decision on."""

    player_sum: int
    usable_ace: bool
    dealer_card: int


Policy = Callable[[Situation], float]


class Outcome(NamedTuple):
    """Chances of the three results of a game."""

    win: float
    push: float
    lose: float

    @property
    def value(self) -> float:
        """The expected reward."""
        return self.win - self.lose


def situations() -> list[Situation]:
    """Every situation in which a player can be asked to decide."""
    hard = [Total(points, soft=False) for points in range(4, BEST_TOTAL + 1)]
    soft = [Total(points, soft=True) for points in range(12, BEST_TOTAL + 1)]
    return [Situation(*hand, up_card) for hand in hard + soft for up_card in UP_CARDS]


def evaluate(policy: Policy) -> Outcome:
    """The exact chances of winning, drawing and losing one game under a policy."""

    @cache
    def play(hand: Total, up_card: int) -> Outcome:
        if hand.bust:
            return Outcome(win=0.0, push=0.0, lose=1.0)
        hit_chance = policy(Situation(*hand, up_card))
        hitting = _mix((CARD_CHANCE, play(hand.plus(card), up_card)) for card in DECK)
        return _mix([(hit_chance, hitting), (1.0 - hit_chance, stand(hand, up_card))])

    deals = [
        (EMPTY.plus(first).plus(second), up) for first in DECK for second in DECK for up in DECK
    ]
    return _mix((1 / len(deals), play(hand, up_card)) for hand, up_card in deals)


def optimal() -> Policy:
    """The policy with the highest expected reward."""

    @cache
    def best(hand: Total, up_card: int) -> float:
        if hand.bust:
            return -1.0
        return max(stand(hand, up_card).value, hitting(hand, up_card))

    def hitting(hand: Total, up_card: int) -> float:
        return sum(best(hand.plus(card), up_card) for card in DECK) * CARD_CHANCE

    def policy(situation: Situation) -> float:
        hand = Total(situation.player_sum, situation.usable_ace)
        up_card = situation.dealer_card
        return float(hitting(hand, up_card) > stand(hand, up_card).value)

    return policy


@cache
def stand(hand: Total, up_card: int) -> Outcome:
    """What follows when the player stands."""
    results = {"win": 0.0, "push": 0.0, "lose": 0.0}
    for dealer, chance in _dealer_hands(EMPTY.plus(up_card)).items():
        results[compare(hand, dealer)] += chance
    return Outcome(**results)


@cache
def _dealer_hands(hand: Total) -> dict[Total, float]:
    """The chances of each last hand of a dealer who holds this one."""
    if not hand.dealer_draws:
        return {hand: 1.0}
    chances: dict[Total, float] = {}
    for card in DECK:
        for last, chance in _dealer_hands(hand.plus(card)).items():
            chances[last] = chances.get(last, 0.0) + chance * CARD_CHANCE
    return chances


def _mix(weighted: Iterable[tuple[float, Outcome]]) -> Outcome:
    win = push = lose = 0.0
    for weight, outcome in weighted:
        win += weight * outcome.win
        push += weight * outcome.push
        lose += weight * outcome.lose
    return Outcome(win, push, lose)
