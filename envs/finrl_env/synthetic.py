"""Made-up markets: geometric Brownian motion whose drift and volatility change with its regime.

A market has a regime, which it leaves with the same chance every day. In a regime, with annual
drift `mu` and volatility `sigma`, the logarithm of a stock's price moves in a day of `dt = 1/252`
years by

    (mu - v² / 2) dt + v sqrt(dt) (sqrt(RHO) Z + sqrt(1 - RHO) E),    v = beta sigma,

with a normal `Z` that all stocks share, a normal `E` of its own, and the stock's own `beta`, even
in [0.7, 1.3]. It begins at a price even in [20, 200]. A day opens at the last close; its high and
low are beyond both by a normal's absolute value times `v sqrt(dt) / 2`. Prices are rounded to
cents, and never below one.

(J. D. Hamilton, "A New Approach to the Economic Analysis of Nonstationary Time Series and the
Business Cycle", Econometrica 57, 1989; M. R. Hardy, "A Regime-Switching Model of Long-Term Stock
Returns", North American Actuarial Journal 5, 2001.)

The numbers come from a Mersenne Twister that a `SeedSequence` seeds, through `RandomState`, whose
stream numpy has promised never to change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from finrl_env.market import Market, Prices, business_days

DAYS_A_YEAR = 252
RHO = 0.4
LEAST_PRICE = 0.01


class Regime(NamedTuple):
    """A market's mood.

    Attributes:
        drift: the expected return of a year.
        volatility: the standard deviation of a year's return.
        days: how long it lasts on average.
    """

    drift: float
    volatility: float
    days: float


REGIMES = (Regime(0.15, 0.12, 120), Regime(-0.10, 0.25, 40), Regime(-0.60, 0.55, 10))
"""Calm, falling and panic. A market begins calm; what follows a regime is either of the others."""


def synthetic(stocks: int, days: int, seed: int) -> Market:
    """The market of a seed.

    Args:
        stocks: how many.
        days: how many, from 2020-01-01 on without weekends.
        seed: settles every number.
    """
    stream = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(seed)))
    first = stream.uniform(20, 200, stocks)
    beta = stream.uniform(0.7, 1.3, stocks)
    drift, volatility = _moods(stream, days)
    spread = volatility[:, None] * beta / np.sqrt(DAYS_A_YEAR)
    shared, own = stream.standard_normal((days, 1)), stream.standard_normal((days, stocks))
    shock = np.sqrt(RHO) * shared + np.sqrt(1 - RHO) * own
    moves = drift[:, None] / DAYS_A_YEAR - spread**2 / 2 + spread * shock
    moves[0] = 0.0
    close = first * np.exp(np.cumsum(moves, axis=0))
    opened = np.vstack([close[:1], close[:-1]])
    reach = np.abs(stream.standard_normal((2, days, stocks))) * spread / 2
    high = np.maximum(opened, close) * np.exp(reach[0])
    low = np.minimum(opened, close) * np.exp(-reach[1])
    volume = np.round(1e6 * np.exp(0.3 * stream.standard_normal((days, stocks))))
    names = tuple(f"STOCK{number}" for number in range(1, stocks + 1))
    columns = {"open": _cents(opened), "volume": volume}
    return Market(names, business_days(days), _cents(close), _cents(high), _cents(low), columns)


def _moods(stream: np.random.RandomState, days: int) -> tuple[Prices, Prices]:
    """Each day's drift and volatility, shape (days,)."""
    chances = stream.uniform(size=(days, 2))
    regime, path = 0, []
    for leaves, turns in chances:
        if leaves < 1 / REGIMES[regime].days:
            regime = (regime + (1 if turns < 0.5 else 2)) % len(REGIMES)
        path.append(REGIMES[regime])
    return np.array([mood.drift for mood in path]), np.array([mood.volatility for mood in path])


def _cents(prices: Prices) -> Prices:
    rounded: Prices = np.maximum(np.round(prices, 2), LEAST_PRICE)
    return rounded
