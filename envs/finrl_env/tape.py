"""Tapes: what passes before a trader's eyes, a row of numbers for each day."""

from __future__ import annotations

import logging
from bisect import bisect_left
from dataclasses import dataclass, replace
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from finrl_env import indicators
from finrl_env.market import Market, Prices, sine
from finrl_env.options import FinRLOptions
from finrl_env.synthetic import synthetic
from finrl_env.table import read_market
from finrl_env.turbulence import turbulence
from openenv import InvalidRequest

SAMPLE = Path(__file__).with_name("sample.csv")
"""Three stocks on 252 days: `synthetic(3, 252, seed=2020)` as a table."""

MOST_NUMBERS = 25_000_000
"""Prices and indicators of a market."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Tape:
    """The days of an episode. Sessions share it: its arrays are read-only.

    Attributes:
        tickers: the stocks' names.
        dates: the days, in order.
        close: closing prices, shape (days, stocks).
        indicators: the names of the indicators.
        signals: their values, one indicator after the other, shape (days, indicators times stocks).
        risk: of each day; `None` where nobody looks at it.
    """

    tickers: tuple[str, ...]
    dates: tuple[str, ...]
    close: Prices
    indicators: tuple[str, ...]
    signals: Prices
    risk: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.dates)

    def part(self, start: date | None, end: date | None, days: int | None) -> Tape:
        """The days from the start to before the end, and of these so many at most.

        Raises:
            InvalidRequest: fewer than two days are left.
        """
        first = 0 if start is None else bisect_left(self.dates, str(start), key=_day)
        last = len(self) if end is None else bisect_left(self.dates, str(end), key=_day)
        kept = slice(first, last if days is None else min(last, first + days))
        if last - first < 2:
            raise InvalidRequest(
                f"{max(0, last - first)} days are left from {start or self.dates[0]} to before "
                f"{end or 'the end'}, of {self.dates[0]} to {self.dates[-1]}: there must be 2"
            )
        return replace(
            self,
            dates=self.dates[kept],
            close=self.close[kept],
            signals=self.signals[kept],
            risk=None if self.risk is None else self.risk[kept],
        )


def _day(written: str) -> str:
    return written[:10]


def tape_for(options: FinRLOptions, seed: int) -> Tape:
    """The tape of an episode.

    Args:
        options: what is traded.
        seed: settles a synthetic market.

    Raises:
        TableError: the price table is wrong.
        InvalidRequest: the market has no such days, indicators, or number of stocks.
    """
    return _whole_tape(options, seed).part(options.start_date, options.end_date, options.days)


def _whole_tape(options: FinRLOptions, seed: int) -> Tape:
    looks = _Looks(
        tuple(options.tech_indicator_list),
        options.risk_indicator_col if options.turbulence_threshold is not None else None,
    )
    if options.source == "synthetic":
        return looks.at(synthetic(options.made_stocks, options.made_days, seed))
    if options.source == "sine":
        return _sine_tape(options.made_stocks, options.made_days, looks)
    path = SAMPLE if options.source == "sample" else Path(options.data_path or "")
    tape = _file_tape(path, _version(path), looks)
    if options.stock_dim not in (None, len(tape.tickers)):
        raise InvalidRequest(
            f"stock_dim is {options.stock_dim}, but the {options.source} has {len(tape.tickers)} "
            f"stocks; leave it out, or ask for market='synthetic'"
        )
    return tape


class _Looks(NamedTuple):
    """What is looked at beside prices: the indicators, and what says the risk."""

    indicators: tuple[str, ...]
    risk: str | None

    @property
    def names(self) -> list[str]:
        """What all of it is called, each once."""
        return list(dict.fromkeys([*self.indicators, *([self.risk] if self.risk else [])]))

    def at(self, market: Market) -> Tape:
        """The tape of a whole market."""
        numbers = market.close.size * (1 + len(self.indicators))
        if numbers > MOST_NUMBERS:
            raise InvalidRequest(
                f"the market's prices and {len(self.indicators)} indicators are {numbers} numbers, "
                f"and there may be {MOST_NUMBERS} at most; ask for fewer indicators"
            )
        columns = {name: self._column(market, name) for name in self.names}
        none = np.empty((len(market.dates), 0))
        signals = np.hstack([none, *(columns[name] for name in self.indicators)])
        for array in (market.close, signals):
            array.setflags(write=False)
        risk = None if self.risk is None else columns[self.risk][:, 0].tolist()
        return Tape(
            market.tickers,
            market.dates,
            market.close,
            self.indicators,
            signals,
            None if risk is None else tuple(risk),
        )

    def _column(self, market: Market, name: str) -> Prices:
        if name in market.columns:
            return market.columns[name]
        if name == "turbulence":
            return np.repeat(turbulence(market.close), len(market.tickers), axis=1)
        made = indicators.computed(market, name)
        if made is not None:
            return made
        close = get_close_matches(name, market.columns, 1)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise InvalidRequest(
            f"no column {name!r} in the prices{hint} Computed are {indicators.KNOWN}, turbulence"
        )


@lru_cache(maxsize=8)
def _sine_tape(stocks: int, days: int, looks: _Looks) -> Tape:
    return looks.at(sine(stocks, days))


@lru_cache(maxsize=4)
def _file_tape(path: Path, version: tuple[int, int] | None, looks: _Looks) -> Tape:
    """The tape of a price table, read anew when that has changed."""
    market = read_market(path, looks.names)
    _log.info("%s: %d stocks, %d days", path.name, len(market.tickers), len(market.dates))
    return looks.at(market)


def _version(path: Path) -> tuple[int, int] | None:
    try:
        seen = path.stat()
    except OSError:
        return None  # reading it says what is wrong
    return seen.st_mtime_ns, seen.st_size
