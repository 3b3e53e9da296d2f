"""Tapes: what passes before a trader's eyes, a row of numbers for each day."""

from __future__ import annotations

import logging
from dataclasses import dataclass
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


def tape_for(options: FinRLOptions, seed: int) -> Tape:
    """The tape of an episode.

    Args:
        options: what is traded.
        seed: settles a synthetic market.

    Raises:
        TableError: the price table is wrong.
        InvalidRequest: the market has no such days, indicators, or number of stocks.
    """
    cut = _Cut(
        tuple(options.tech_indicator_list),
        options.risk_indicator_col if options.turbulence_threshold is not None else None,
        options.start_date,
        options.end_date,
    )
    if options.source == "synthetic":
        return cut.of(synthetic(options.stock_dim or 1, options.days, seed))
    if options.source == "sine":
        return _sine_tape(options.stock_dim or 1, options.days, cut)
    path = SAMPLE if options.source == "sample" else Path(options.data_path or "")
    tape = _file_tape(path, _version(path), cut)
    if options.stock_dim not in (None, len(tape.tickers)):
        raise InvalidRequest(
            f"stock_dim is {options.stock_dim}, but the {options.source} has {len(tape.tickers)} "
            f"stocks; leave it out, or ask for market='synthetic'"
        )
    return tape


class _Cut(NamedTuple):
    """Which part of a market is on a tape."""

    indicators: tuple[str, ...]
    risk: str | None
    start: date | None
    end: date | None

    def of(self, market: Market) -> Tape:
        """The tape; its indicators know the days before it."""
        kept = self._kept(market.dates)
        signals = [self._column(market, name) for name in self.indicators]
        risk = None if self.risk is None else self._column(market, self.risk)[kept, 0].tolist()
        close = market.close[kept]
        flat = np.hstack([*signals, np.empty((len(market.dates), 0))])[kept]
        close.setflags(write=False)
        flat.setflags(write=False)
        return Tape(
            market.tickers,
            market.dates[kept],
            close,
            self.indicators,
            flat,
            None if risk is None else tuple(risk),
        )

    def _kept(self, dates: tuple[str, ...]) -> slice:
        first = sum(day[:10] < str(self.start or "") for day in dates)
        last = sum(day[:10] < str(self.end or "9999-99") for day in dates)
        if last - first < 2:
            raise InvalidRequest(
                f"{max(0, last - first)} days are left from {self.start or dates[0]} to before "
                f"{self.end or 'the end'}, of {dates[0]} to {dates[-1]}: there must be 2"
            )
        return slice(first, last)

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


@lru_cache(maxsize=16)
def _sine_tape(stocks: int, days: int, cut: _Cut) -> Tape:
    return cut.of(sine(stocks, days))


@lru_cache(maxsize=16)
def _file_tape(path: Path, version: tuple[int, int] | None, cut: _Cut) -> Tape:
    """The tape of a price table, read anew when that has changed."""
    extra = [*cut.indicators, *([cut.risk] if cut.risk else [])]
    market = read_market(path, extra)
    _log.info("%s: %d stocks, %d days", path, len(market.tickers), len(market.dates))
    return cut.of(market)


def _version(path: Path) -> tuple[int, int] | None:
    try:
        seen = path.stat()
    except OSError:
        return None  # reading it says what is wrong
    return seen.st_mtime_ns, seen.st_size
