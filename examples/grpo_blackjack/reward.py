"""What a game is worth, and what that says of each decision in it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, pstdev

STEADY = 1e-4  # keeps groups whose games all ended alike from dividing by 0


def compute_advantages(rewards: Sequence[float | None]) -> list[float | None]:
    """How much better each game of a group went than the group, in standard deviations.

    The games of a group are of one deal: what differs is what was done. A game whose reward failed
    has no advantage and does not count for the others.
    """
    known = [reward for reward in rewards if reward is not None]
    if not known:
        return [None] * len(rewards)
    mean, deviation = fmean(known), pstdev(known)
    return [
        None if reward is None else (reward - mean) / (deviation + STEADY) for reward in rewards
    ]
