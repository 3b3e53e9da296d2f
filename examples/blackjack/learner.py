"""A small policy that learns BlackJack from its own games: REINFORCE with a baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from blackjack_env.exact import Situation

POLICY_RATE = 0.15
BASELINE_RATE = 0.05


class Decision(NamedTuple):
    """What was seen, and whether the player hit."""

    situation: Situation
    hit: bool


class Episode(NamedTuple):
    """One game: its decisions and what it paid in the end."""

    decisions: list[Decision]
    reward: float


class Linear:
    """A number for each situation: the sum of its features' weights."""

    def __init__(self) -> None:
        self._weights: dict[Hashable, float] = defaultdict(float)

    def __call__(self, situation: Situation) -> float:
        return sum(self._weights[feature] for feature in _features(situation))

    def nudge(self, situation: Situation, amount: float) -> None:
        """Moves the number of a situation, and with it those of its relatives."""
        for feature in _features(situation):
            self._weights[feature] += amount


class Learner:
    """A softmax policy over hit and stand."""

    def __init__(self) -> None:
        self._logit = Linear()
        self._baseline = Linear()

    def hit_chance(self, situation: Situation) -> float:
        """The policy that explores."""
        return 1 / (1 + math.exp(-self._logit(situation)))

    def greedy(self, situation: Situation) -> float:
        """The policy that does what it thinks is best."""
        return float(self._logit(situation) > 0)

    def learn(self, episodes: Iterable[Episode], entropy_bonus: float) -> None:
        """Makes what went better than expected likelier.

        The entropy bonus keeps an untried move alive; without it the policy soon stands on
        everything, which is the best one can do without looking at the cards.
        """
        nudges = []
        for episode in episodes:
            for situation, hit in episode.decisions:
                chance = self.hit_chance(situation)
                surprise = episode.reward - self._baseline(situation)
                likelihood = hit - chance  # the logit's derivative of log π(move)
                entropy = -chance * (1 - chance) * self._logit(situation)  # and of the entropy
                nudges.append((situation, surprise * likelihood + entropy_bonus * entropy))
                self._baseline.nudge(situation, BASELINE_RATE * surprise)
        for situation, amount in nudges:
            self._logit.nudge(situation, POLICY_RATE * amount)


def _features(situation: Situation) -> Sequence[Hashable]:
    """The hand, the dealer's card and both together: what is learned of one helps its relatives."""
    points, ace, dealer_card = situation
    return ("hand", points, ace), ("dealer", dealer_card, ace), situation
