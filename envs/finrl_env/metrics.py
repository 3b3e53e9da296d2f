"""How a portfolio has done, from its value on each day."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

DAYS_A_YEAR = 252


def metrics(values: Sequence[float]) -> dict[str, Any]:
    """Figures of a portfolio. What cannot be told is `None`.

    Args:
        values: its value on each day, at least one.

    Returns:
        `total_return` (0.1 is 10 percent) · `annualised_return`, compounded over 252 days a year ·
        `annualised_volatility`, the sample standard deviation of the daily returns times √252 ·
        `sharpe`, their mean over that deviation, times √252 · `sortino`, their mean over the root
        of the mean of the squares of those below 0 (the others count as 0), times √252 ·
        `max_drawdown`, the largest loss since a high, as a part of the high.
    """
    value = np.asarray(values, float)
    known: dict[str, float | None] = {
        "total_return": _quotient(value[-1] - value[0], value[0]),
        "annualised_return": _annualised(value),
        "max_drawdown": float(np.max(1 - value / np.maximum.accumulate(value), initial=0.0)),
    }
    return known | _of_returns(value)


def _of_returns(value: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float | None]:
    returns = value[1:] / value[:-1] - 1
    if len(returns) < 2:
        return {"annualised_volatility": None, "sharpe": None, "sortino": None}
    year = np.sqrt(DAYS_A_YEAR)
    mean, deviation = returns.mean(), returns.std(ddof=1)
    downside = np.sqrt(np.mean(np.minimum(returns, 0) ** 2))
    return {
        "annualised_volatility": float(deviation * year),
        "sharpe": _quotient(mean * year, deviation),
        "sortino": _quotient(mean * year, downside),
    }


def _annualised(value: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    days = len(value) - 1
    if days == 0:
        return None
    with np.errstate(over="ignore"):
        grown = float(np.exp(np.log(value[-1] / value[0]) * DAYS_A_YEAR / days) - 1)
    return grown if np.isfinite(grown) else None


def _quotient(above: float, below: float) -> float | None:
    return float(above / below) if below > 0 else None
