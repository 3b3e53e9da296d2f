"""Confidence intervals: of a mean by Student's t, of a rate by Wilson's score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

LEVEL = 0.95
"""How often such an interval holds the true value."""
_BISECTIONS = 200
_FRACTIONS = 300
_SMALLEST = 1e-300


@dataclass(frozen=True)
class Interval:
    """Where a true value is believed to be.

    Attributes:
        low: the lower end.
        high: the upper end.
    """

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def mean_interval(values: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Student's t interval of a mean.

    Args:
        values: independent of each other; from about 20 on they may be distributed in any way.
        level: how often it holds the true mean, between 0 and 1.

    Returns:
        `None` for fewer than two values, of which nobody can tell how far they scatter.
    """
    count = len(values)
    if count < 2:
        return None
    mean = fmean(values)
    half = t_quantile((1 + level) / 2, count - 1) * stdev(values) / math.sqrt(count)
    return Interval(mean - half, mean + half)


def rate_interval(successes: int, trials: int, level: float = LEVEL) -> Interval | None:
    """Wilson's score interval of a rate, which is of use for few trials and for none or all, too.

    Source: E. B. Wilson, Journal of the American Statistical Association 22 (1927), 209-212.

    Args:
        successes: of the trials.
        trials: independent of each other.
        level: how often it holds the true rate, between 0 and 1.

    Returns:
        `None` without a trial.
    """
    if not trials:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate, shrink = successes / trials, 1 + z * z / trials
    middle = (rate + z * z / (2 * trials)) / shrink
    half = z / shrink * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    low = 0.0 if successes == 0 else middle - half
    return Interval(low, 1.0 if successes == trials else middle + half)


def t_quantile(probability: float, freedom: int) -> float:
    """The value that Student's t stays below with a probability.

    Args:
        probability: from 0.5 to below 1.
        freedom: the degrees of freedom, from 1.
    """
    low, high = 0.0, 1.0
    while _t_below(high, freedom) < probability:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _t_below(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _t_below(value: float, freedom: int) -> float:
    """The probability that t stays below a value from 0 on."""
    beyond = _beta_below(freedom / (freedom + value * value), freedom / 2, 0.5)
    return 1 - beyond / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x in (0.0, 1.0):
        return x
    log_front = a * math.log(x) + b * math.log1p(-x)
    log_front -= math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) * _continued_fraction(x, a, b) / a
    return 1 - math.exp(log_front) * _continued_fraction(1 - x, b, a) / b


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's algorithm."""
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _FRACTIONS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _nonzero(1 + numerator * d)
            c = _nonzero(1 + numerator / c)
            fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return fraction


def _nonzero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST
