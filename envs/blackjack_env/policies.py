"""Policies to compare a learner with, from hopeless to optimal."""

from __future__ import annotations

from blackjack_env.exact import Policy, Situation, optimal

__all__ = ["always_hit", "always_stand", "coin_toss", "hit_below", "never_bust", "optimal"]


def coin_toss(situation: Situation) -> float:
    """Hits half of the time."""
    return 0.5


def always_stand(situation: Situation) -> float:
    """Never takes a card: the best one can do without looking at the cards."""
    return 0.0


def always_hit(situation: Situation) -> float:
    """Takes cards until the hand is bust."""
    return 1.0


def hit_below(points: int) -> Policy:
    """Hits below a total and stands on it; 17 is the dealer's own rule."""

    def policy(situation: Situation) -> float:
        return float(situation.player_sum < points)

    return policy


def never_bust(situation: Situation) -> float:
    """Hits only where no card can bust the hand's hard total."""
    return hit_below(12)(situation)
