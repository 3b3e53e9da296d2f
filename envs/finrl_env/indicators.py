"""Technical indicators, by the formulas of their authors; each is of the days so far alone.

    macd           EMA(12) - EMA(26) of the close (G. Appel, "Technical Analysis", 2005)
    rsi_N          100 - 100 / (1 + gains / losses), each smoothed over N days
    dx_N           100 |+DI - -DI| / (+DI + -DI) of the directional movement, smoothed over N days
                   (both: J. W. Wilder, "New Concepts in Technical Trading Systems", 1978)
    cci_N          (T - mean T) / (0.015 mean |T - mean T|) over N days, of the typical price
                   T = (high + low + close) / 3 (D. R. Lambert, "Commodity Channel Index",
                   Commodities 9, 1980)
    boll, boll_ub, boll_lb
                   the mean of 20 days, and two standard deviations above and below it
                   (J. Bollinger, "Bollinger on Bollinger Bands", 2001)
    close_N_sma    the mean of N days

EMA(N) weighs a day 2 / (N + 1), Wilder's smoothing 1 / N; both divide by the sum of the weights so
far, and means are of as many days as there are, so that the first days have values too. These are
the conventions of `stockstats`, which FinRL computes its indicators with. Where a formula divides
zero by zero, as on the first day, the value is the neutral one: 50 for `rsi`, else 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from finrl_env.market import Market, Prices

MOST_DAYS_BACK = 250
TRACE = 1e-12
"""A distance that is this small a part of a price is what rounding leaves of none."""

KNOWN = "macd, rsi_N, cci_N, dx_N, boll, boll_ub, boll_lb, close_N_sma"

_NAME = re.compile(r"(?P<kind>rsi|cci|dx)_(?P<days>\d{1,4})|close_(?P<sma_days>\d{1,4})_sma")


def computed(market: Market, name: str) -> Prices | None:
    """An indicator of a market; `None` if there is none of that name."""
    if name in _FIXED:
        return _FIXED[name](market)
    found = _NAME.fullmatch(name)
    days = int(found["days"] or found["sma_days"]) if found else 0
    if found is None or not 1 <= days <= MOST_DAYS_BACK:
        return None
    return _OF_DAYS[found["kind"] or "sma"](market, days)


def smoothed(values: Prices, weight: float) -> Prices:
    """The mean so far, in which a day counts `1 - weight` as much as the day after it."""
    sums = np.zeros(values.shape[1])
    total, result = 0.0, np.empty_like(values)
    for day, today in enumerate(values):
        sums = sums * (1 - weight) + today
        total = total * (1 - weight) + 1
        result[day] = sums / total
    return result


def macd(market: Market) -> Prices:
    """The fast mean less the slow one."""
    return smoothed(market.close, 2 / 13) - smoothed(market.close, 2 / 27)


def rsi(market: Market, days: int) -> Prices:
    """How much of the moves were gains, in percent."""
    moves = _moves(market.close)
    gains = smoothed(np.maximum(moves, 0), 1 / days)
    losses = smoothed(np.maximum(-moves, 0), 1 / days)
    return 100 * _ratio(gains, gains + losses, 0.5)


def dx(market: Market, days: int) -> Prices:
    """How much the market has one direction, in percent."""
    up, down = _moves(market.high), -_moves(market.low)
    rises = smoothed(np.where((up > down) & (up > 0), up, 0), 1 / days)
    falls = smoothed(np.where((down > up) & (down > 0), down, 0), 1 / days)
    return 100 * _ratio(np.abs(rises - falls), rises + falls, 0)


def cci(market: Market, days: int) -> Prices:
    """How far the typical price is from its mean, in mean distances."""
    typical = (market.high + market.low + market.close) / 3
    mean = _windowed(typical, days)
    distance = _windowed(typical, days, lambda past, on: np.abs(past - mean[on]))
    moved = distance > TRACE * np.abs(mean)
    return _ratio(typical - mean, 0.015 * np.where(moved, distance, 0), 0)


def sma(market: Market, days: int) -> Prices:
    """The mean close of some days."""
    return _windowed(market.close, days)


def bollinger(market: Market, deviations: float) -> Prices:
    """The mean of 20 days, and some standard deviations more."""
    mean = _windowed(market.close, 20)
    variance = _windowed(market.close, 20, lambda past, on: (past - mean[on]) ** 2)
    count = _counts(len(mean), 20)
    band: Prices = mean + deviations * np.sqrt(variance * count / np.maximum(count - 1, 1))
    return band


def _windowed(
    values: Prices,
    days: int,
    of: Callable[[Prices, slice], Prices] = lambda past, on: past,
) -> Prices:
    """Each day's mean of the days that end with it.

    Args:
        values: of shape (days, stocks).
        days: how many there are in a window, or as many as there have been.
        of: what the mean is of: a function of past values and of the days they are seen from.
    """
    total = np.zeros_like(values)
    for back in range(min(days, len(values))):
        on = slice(back, None)
        total[on] += of(values[: len(values) - back], on)
    mean: Prices = total / _counts(len(values), days)
    return mean


def _counts(total: int, days: int) -> Prices:
    """How many days there are in each day's window, shape (total, 1)."""
    counts: Prices = np.minimum(np.arange(1.0, total + 1), days)[:, None]
    return counts


_FIXED: dict[str, Callable[[Market], Prices]] = {
    "macd": macd,
    "boll": lambda market: bollinger(market, 0),
    "boll_ub": lambda market: bollinger(market, 2),
    "boll_lb": lambda market: bollinger(market, -2),
}
_OF_DAYS: dict[str, Callable[[Market, int], Prices]] = {
    "rsi": rsi,
    "dx": dx,
    "cci": cci,
    "sma": sma,
}


def _moves(prices: Prices) -> Prices:
    """How much each price has moved since the day before; nothing on the first day."""
    return np.diff(prices, axis=0, prepend=prices[:1])


def _ratio(above: Prices, below: Prices, otherwise: float) -> Prices:
    """A quotient, with a number of its own where it would be of two zeros."""
    there = below > 0
    result: Prices = np.where(there, above / np.where(there, below, 1), otherwise)
    return result
