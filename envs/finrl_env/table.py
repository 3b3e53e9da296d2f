"""Price tables: a row for each day and stock, as CSV or Parquet.

    date,tic,close,high,low,volume,macd
    2020-01-02,AAPL,75.09,75.15,73.80,135480400,0.0
    2020-01-02,MSFT,160.62,160.73,158.33,22622100,0.0

`date`, `tic` and `close` are needed. A table that is wrong is told of by row and column; the header
of a CSV file is row 1.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from finrl_env.market import Market, Prices
from finrl_env.models import MOST_STOCKS
from openenv import errors, needs

MOST_BYTES = 128 << 20
MOST_ROWS = 2_500_000
LEAST_PRICE, HIGHEST_PRICE = 1e-4, 1e9
MOST_VALUE = 1e12
NEEDED = ("date", "tic", "close")
PRICES = ("close", "high", "low", "open")

_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")

Row = tuple[int, Sequence[Any]]
"""Its number, and its cells in the order of the header."""

Content = tuple[list[str], Iterator[Row]]
"""A header, and the rows under it."""


class TableError(errors.ConfigurationError):
    """A price table that cannot be traded on: where it is wrong, and what was found there."""


@dataclass(frozen=True)
class _Quote:
    """What a row says of a stock on a day."""

    row: int
    date: str
    numbers: tuple[float, ...]


def read_market(path: Path, extra: Iterable[str] = ()) -> Market:
    """The market that a file describes.

    Stocks are in the order in which they first appear, days in that of their dates.

    Args:
        path: a `.csv` or `.parquet` file.
        extra: columns that are read too, if the table has them. Others are left alone.

    Raises:
        TableError: the file cannot be read, or is wrong in some row and column.
        MissingPackage: it is Parquet, and `pyarrow` is missing.
    """
    try:
        if path.exists() and not path.is_file():
            raise TableError(f"{path.name} is a directory or a device; a price table is a file")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise TableError(
                f"{path.name} has {size} bytes; a price table has at most {MOST_BYTES}"
            )
        parquet = path.suffix.lower() in (".parquet", ".pq")
        with _parquet(path) if parquet else _csv(path) as (header, rows):
            return _Reader(path, header, extra).market(rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise TableError(f"the price table {path.name} cannot be read: {why}") from error


@contextmanager
def _csv(path: Path) -> Iterator[Content]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file)
        rows = ((lines.line_num, cells) for cells in lines if cells)
        header = next(rows, (1, []))[1]
        yield [name.strip() for name in header], rows


@contextmanager
def _parquet(path: Path) -> Iterator[Content]:
    with needs("openenv-finrl-env[parquet]"):
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            if (rows := file.metadata.num_rows) > MOST_ROWS:
                raise TableError(
                    f"{path.name} has {rows} rows; a price table has at most {MOST_ROWS}"
                )
            table = file.read()
    except pyarrow.ArrowException as error:
        raise TableError(f"the price table {path.name} cannot be read: {error}") from error
    columns = [column.to_pylist() for column in table.columns]
    yield list(table.column_names), enumerate(zip(*columns, strict=True), start=1)


class _Reader:
    """Reads the rows of one table."""

    def __init__(self, path: Path, header: list[str], extra: Iterable[str]) -> None:
        self._name = path.name  # where it lies is nothing that clients need to know
        self._width = len(header)
        for name in NEEDED:
            if name not in header:
                raise self._without(name, header)
        twice = {name for name in header if name and header.count(name) > 1}
        if twice:
            raise TableError(f"{path.name}, row 1: the column {min(twice)!r} is there twice")
        wanted = dict.fromkeys(("close", "high", "low", *extra))
        self._numbers = {name: header.index(name) for name in wanted if name in header}
        self._date, self._tic = header.index("date"), header.index("tic")

    def _without(self, name: str, header: list[str]) -> TableError:
        other = get_close_matches(name, header, 1, 0.5)
        hint = f"is it {other[0]!r}? " if other else ""
        return TableError(
            f"{self._name}, row 1: the column {name!r} is missing; {hint}a table needs "
            f"{', '.join(NEEDED)}, and this one has {', '.join(header)[:200] or 'none'}"
        )

    def market(self, rows: Iterable[Row]) -> Market:
        """All rows as a market."""
        quotes: dict[str, dict[datetime, _Quote]] = {}
        for number, cells in rows:
            day, ticker, quote = self._quote(number, cells)
            of_stock = quotes.setdefault(ticker, {})
            if (other := of_stock.setdefault(day, quote)) is not quote:
                raise TableError(
                    f"{self._name}, row {number}: {ticker} on {quote.date} is in row {other.row} "
                    "already"
                )
            if len(quotes) > MOST_STOCKS:
                raise self._wrong(number, "tic", ticker, f"at most {MOST_STOCKS} stocks")
        days = sorted(set().union(*quotes.values()))
        if len(days) < 2:
            raise TableError(f"{self._name} has {len(days)} days; there is nothing to trade in")
        self._check_complete(quotes, days)
        return self._assembled(quotes, days)

    def _assembled(self, quotes: dict[str, dict[datetime, _Quote]], days: list[datetime]) -> Market:
        numbers = np.array(
            [[of_stock[day].numbers for of_stock in quotes.values()] for day in days]
        )
        columns: dict[str, Prices] = {
            name: np.ascontiguousarray(numbers[:, :, place])
            for place, name in enumerate(self._numbers)
        }
        first = next(iter(quotes.values()))
        close = columns["close"]
        return Market(
            tuple(quotes),
            tuple(first[day].date for day in days),
            close,
            columns.get("high", close),
            columns.get("low", close),
            columns,
        )

    def _check_complete(
        self, quotes: dict[str, dict[datetime, _Quote]], days: list[datetime]
    ) -> None:
        for ticker, of_stock in quotes.items():
            if len(of_stock) == len(days):
                continue
            missing = next(day for day in days if day not in of_stock)
            other = next(each[missing] for each in quotes.values() if missing in each)
            raise TableError(
                f"{self._name}, row {other.row}: others have {other.date}, {ticker} has no row for "
                "it; fill such days, or leave the stock or the day out"
            )

    def _quote(self, number: int, cells: Sequence[Any]) -> tuple[datetime, str, _Quote]:
        if len(cells) != self._width:
            raise TableError(
                f"{self._name}, row {number}: {self._width} cells were expected, as in the header, "
                f"got {len(cells)}"
            )
        date = _text(cells[self._date])
        ticker = _text(cells[self._tic])
        if not 1 <= len(ticker) <= 64 or not ticker.isprintable():
            raise self._wrong(number, "tic", cells[self._tic], "a name of 1 to 64 characters")
        numbers = tuple(
            self._number(number, name, cells[place]) for name, place in self._numbers.items()
        )
        self._check_range(number, cells)
        return self._day(number, date), ticker, _Quote(number, date, numbers)

    def _check_range(self, number: int, cells: Sequence[Any]) -> None:
        if "high" in self._numbers and "low" in self._numbers:
            high, low = cells[self._numbers["high"]], cells[self._numbers["low"]]
            if float(high) < float(low):
                raise self._wrong(number, "high", high, f"at least the low, {low}")

    def _day(self, number: int, date: str) -> datetime:
        try:
            if not _ISO_DAY.match(date):
                raise ValueError("other forms are ambiguous")
            return datetime.fromisoformat(date.removesuffix("Z")).replace(tzinfo=None)
        except ValueError:
            raise self._wrong(number, "date", date, "a day as 2020-01-31") from None

    def _number(self, number: int, name: str, cell: Any) -> float:
        try:
            value = float(cell)
        except (TypeError, ValueError):
            raise self._wrong(number, name, cell, "a number") from None
        if name in PRICES and not LEAST_PRICE <= value <= HIGHEST_PRICE:
            wanted = f"a price from {LEAST_PRICE:g} to {HIGHEST_PRICE:g}"
            raise self._wrong(number, name, cell, wanted)
        if not math.isfinite(value) or abs(value) > MOST_VALUE:
            raise self._wrong(number, name, cell, f"a number up to {MOST_VALUE:g}")
        return value

    def _wrong(self, number: int, column: str, cell: Any, wanted: str) -> TableError:
        found = "nothing" if cell in (None, "") else repr(cell)[:60]
        return TableError(
            f"{self._name}, row {number}, column {column}: {wanted} was expected, got {found}"
        )


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
