"""The turbulence of a market: how unlike its own past a day's returns are.

    d = (r - mean) C⁺ (r - mean)ᵀ

with the returns `r` of the day, and the mean and covariance `C` of the returns of the 252 days
before it (M. Kritzman and Y. Li, "Skulls, Financial Turbulence, and Risk Management", Financial
Analysts Journal 66, 2010). FinRL begins after 252 days, and has 0 before; here 30 are enough.
"""

from __future__ import annotations

import numpy as np

from finrl_env.market import Prices
from openenv import InvalidRequest

DAYS_BACK = 252
FEWEST_DAYS = 30
MOST_STOCKS = 50
MOST_WORK = 3_000_000
"""Days times the square of the stocks that are computed, within seconds."""


def turbulence(close: Prices) -> Prices:
    """The turbulence of each day, shape (days, 1), from closes of shape (days, stocks).

    Raises:
        InvalidRequest: there are so many that it would take too long.
    """
    days, stocks = close.shape
    if stocks > MOST_STOCKS or days * stocks**2 > MOST_WORK:
        raise InvalidRequest(
            f"the turbulence of {stocks} stocks on {days} days is too much to compute: stocks are "
            f"{MOST_STOCKS} at most, and days times their square {MOST_WORK}. Give the price table "
            "a column of it, which risk_indicator_col names"
        )
    returns = close[1:] / close[:-1] - 1
    result = np.zeros((len(close), 1))
    for day in range(FEWEST_DAYS, len(returns)):
        past = returns[max(0, day - DAYS_BACK) : day]
        unlike = returns[day] - past.mean(axis=0)
        covariance = np.atleast_2d(np.cov(past, rowvar=False))
        result[day + 1] = unlike @ np.linalg.pinv(covariance) @ unlike
    return result
