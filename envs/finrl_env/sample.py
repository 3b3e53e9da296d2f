"""Writes a synthetic market as a price table, as `sample.csv` was.

python -m finrl_env.sample sample.csv --stocks 3 --days 252 --seed 2020
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openenv import needs

with needs("openenv-finrl-env[server]"):
    from finrl_env.market import Market
    from finrl_env.synthetic import synthetic

HEADER = ("date", "tic", "open", "high", "low", "close", "volume")


def write_market(path: Path, market: Market) -> None:
    """Writes a market that has opening prices and volumes, a row for each day and stock."""
    columns = [market.columns["open"], market.high, market.low, market.close]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(HEADER)
        for day, date in enumerate(market.dates):
            for stock, ticker in enumerate(market.tickers):
                prices: list[Any] = [f"{column[day, stock]:.2f}" for column in columns]
                volume = int(market.columns["volume"][day, stock])
                lines.writerow([date, ticker, *prices, volume])


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="finrl_env.sample", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--stocks", type=int, default=3)
    parser.add_argument("--days", type=int, default=252)
    parser.add_argument("--seed", type=int, default=2020)
    asked = parser.parse_args(arguments)
    write_market(asked.path, synthetic(asked.stocks, asked.days, asked.seed))


if __name__ == "__main__":
    main()
