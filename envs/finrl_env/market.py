"""Markets: the prices of some stocks on some days, in whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

Prices = NDArray[np.float64]
"""One number for each day and stock: shape (days, stocks)."""


@dataclass(frozen=True, eq=False)
class Market:
    """Prices, day by day.

    Attributes:
        tickers: the stocks' names.
        dates: the days, in order, as their source writes them.
        close: the last price of the day.
        high: the highest.
        low: the lowest.
        columns: what else its source says, by name.
    """

    tickers: tuple[str, ...]
    dates: tuple[str, ...]
    close: Prices
    high: Prices
    low: Prices
    columns: Mapping[str, Prices] = field(default_factory=dict)


def sine(stocks: int, days: int) -> Market:
    """The market of FinRL's environment in OpenEnv: two smooth waves around 100.

    The second stock and those after it are as many equal parts of a wave ahead.
    """
    time = np.linspace(0, 4 * np.pi, days)
    ahead = 2 * np.pi * np.arange(stocks) / stocks
    close = 100 + 10 * np.sin(time[:, None] + ahead)
    names = ("SAMPLE", *(f"SAMPLE{number}" for number in range(2, stocks + 1)))
    dates = (date(2020, 1, 1) + timedelta(days=day) for day in range(days))
    return Market(names, tuple(f"{day} 00:00:00" for day in dates), close, close, close)


def business_days(count: int, first: date = date(2020, 1, 1)) -> tuple[str, ...]:
    """That many days from the first on, without Saturdays and Sundays."""
    weeks = (count + 4) // 5 + 1
    every = (first + timedelta(days=day) for day in range(7 * weeks))
    return tuple(str(day) for day in every if day.weekday() < 5)[:count]
