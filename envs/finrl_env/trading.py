"""The trading rules of FinRL 0.3.7's `StockTradingEnv`, to the last bit, in plain floats.

Orders are filled from the largest sale to the smallest, then from the largest purchase to the
smallest. Of equal ones, the first stock sells first and the last one buys first. FinRL leaves that
to `numpy.argsort`, which ranks equal numbers in another order on processors with AVX-512.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from finrl_env.tape import Tape

LARGEST_ORDER = 2.0**62
"""Of what numpy can rank as whole numbers."""


@dataclass(frozen=True)
class Terms:
    """On what terms one trades.

    Attributes:
        hmax: the most shares of a stock in a day.
        buy_costs: a purchase's cost as a part of its price, of each stock.
        sell_costs: likewise of a sale.
        threshold: the risk from which on all is sold; `None` never.
        ranked: the places of orders from the least to the greatest.
    """

    hmax: int
    buy_costs: tuple[float, ...]
    sell_costs: tuple[float, ...]
    threshold: float | None
    ranked: Callable[[Sequence[float]], Sequence[int]]


@dataclass(frozen=True)
class Funds:
    """What one begins with: cash, and shares of each stock."""

    cash: float
    shares: tuple[float, ...]


class Engine(Protocol):
    """What trades. Ours is `Trading`; FinRL's own class is the other."""

    @property
    def day(self) -> int:
        """The number of the day on the tape."""
        ...

    @property
    def trades(self) -> int:
        """How many orders were filled, in whole or in part."""
        ...

    @property
    def costs(self) -> float:
        """What they have cost beside the shares' price."""
        ...

    @property
    def vector(self) -> list[float]:
        """Cash, prices, holdings and indicators, as `FinRLObservation.state`."""
        ...

    def trade(self, actions: Sequence[float]) -> None:
        """Trades for a day, and goes on to the next; there must be one."""
        ...


class Trading:
    """An account on a tape; its attributes are those of an `Engine`."""

    def __init__(self, tape: Tape, terms: Terms, funds: Funds, day: int = 0) -> None:
        self.day = day
        self.trades = 0
        self.costs = 0.0
        self._tape, self._terms = tape, terms
        self._cash, self._shares = funds.cash, list(funds.shares)
        self._risk = 0.0  # FinRL does not look at the risk of the first day
        self._look()

    @property
    def vector(self) -> list[float]:
        """Cash, prices, holdings and indicators."""
        return [self._cash, *self._prices, *self._shares, *self._signals]

    def trade(self, actions: Sequence[float]) -> None:
        """Sells, buys, and sees the next day's prices.

        Args:
            actions: a finite number for each stock.
        """
        if self._in_turmoil:
            self._sell_everything()
        else:
            orders = [_whole(action * self._terms.hmax) for action in actions]
            ranked = self._terms.ranked(orders)
            for stock in ranked:
                if orders[stock] < 0 and self._is_tradable(stock):
                    self._sell(stock, min(-orders[stock], self._shares[stock]))
            for stock in reversed(ranked):
                if orders[stock] > 0 and self._is_tradable(stock):
                    self._buy(stock, orders[stock])
        self.day += 1
        self._look()
        if self._tape.risk is not None:
            self._risk = self._tape.risk[self.day]

    @property
    def _in_turmoil(self) -> bool:
        threshold = self._terms.threshold
        return threshold is not None and self._risk >= threshold

    def _look(self) -> None:
        self._prices: list[float] = self._tape.close[self.day].tolist()
        self._signals: list[float] = self._tape.signals[self.day].tolist()

    def _is_tradable(self, stock: int) -> bool:
        """FinRL reads its flag off the first indicator: exactly 1 means that it is not."""
        return not self._signals or self._signals[stock] != 1.0

    def _sell_everything(self) -> None:
        for stock, held in enumerate(self._shares):
            self._sell(stock, held)

    def _sell(self, stock: int, shares: float) -> None:
        if shares > 0:
            rate = self._terms.sell_costs[stock]
            self._cash += self._prices[stock] * shares * (1 - rate)
            self._shares[stock] -= shares
            self._book(self._prices[stock] * shares * rate)

    def _buy(self, stock: int, wanted: float) -> None:
        rate = self._terms.buy_costs[stock]
        affordable = self._cash // (self._prices[stock] * (1 + rate))
        shares = min(affordable, wanted)
        # Rounding may leave a trace less than no cash, of which FinRL would buy -1 shares.
        if shares > 0:
            self._cash -= self._prices[stock] * shares * (1 + rate)
            self._shares[stock] += shares
            self._book(self._prices[stock] * shares * rate)

    def _book(self, cost: float) -> None:
        self.trades += 1
        self.costs += cost


def ranked(orders: Sequence[float]) -> Sequence[int]:
    """The places of orders from the least to the greatest, equal ones in order."""
    return sorted(range(len(orders)), key=orders.__getitem__)


def ranked_by_numpy(orders: Sequence[float]) -> Sequence[int]:
    """The same, but equal ones as numpy leaves them on this processor."""
    whole = np.clip(orders, -LARGEST_ORDER, LARGEST_ORDER).astype(int)
    places: list[int] = np.argsort(whole).tolist()
    return places


def worth(vector: Sequence[float], stocks: int) -> float:
    """Cash and holdings at the prices of a state, added up in FinRL's order."""
    holdings = 0.0
    for price, shares in zip(vector[1 : stocks + 1], vector[stocks + 1 :], strict=False):
        holdings += price * shares
    return vector[0] + holdings


def _whole(shares: float) -> float:
    """A number of shares without its fraction; an infinite one stays."""
    return float(math.trunc(shares)) if math.isfinite(shares) else shares
