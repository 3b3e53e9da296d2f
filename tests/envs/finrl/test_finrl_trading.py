"""FinRL's trading rules against a second account, kept in decimals and written another way."""

import random
from collections.abc import Sequence
from decimal import ROUND_DOWN, Decimal, localcontext
from typing import Any

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

import numpy as np

from finrl_env.tape import Tape
from finrl_env.trading import Funds, Terms, Trading, ranked, ranked_by_numpy, worth


def _tape(
    close: Sequence[Sequence[float]],
    flags: Sequence[Sequence[float]] | None = None,
    risk: Sequence[float] | None = None,
) -> Tape:
    prices = np.array(close, float)
    days, stocks = prices.shape
    tickers = tuple(f"T{stock}" for stock in range(stocks))
    signals = np.zeros((days, 0)) if flags is None else np.array(flags, float)
    names = () if flags is None else ("flag",)
    return Tape(
        tickers,
        tuple(map(str, range(days))),
        prices,
        names,
        signals,
        None if risk is None else tuple(risk),
    )


def _terms(stocks: int, **changes: Any) -> Terms:
    usual: dict[str, Any] = {
        "hmax": 100,
        "buy_costs": (0.0,) * stocks,
        "sell_costs": (0.0,) * stocks,
        "threshold": None,
        "ranked": ranked,
    }
    return Terms(**{**usual, **changes})


class Ledger:
    """What FinRL's rules make of an account, in exact decimals."""

    def __init__(self, tape: Tape, terms: Terms, funds: Funds) -> None:
        self.tape, self.terms = tape, terms
        self.cash = Decimal(funds.cash)
        self.shares = [int(held) for held in funds.shares]
        self.paid = Decimal(0)
        self.fills = 0
        self.day = 0

    def price(self, stock: int) -> Decimal:
        return Decimal(float(self.tape.close[self.day][stock]))

    def worth(self) -> Decimal:
        return self.cash + sum(held * self.price(n) for n, held in enumerate(self.shares))

    def move(self, stock: int, count: int) -> None:
        """Buys a number of shares; sells them if it is negative."""
        if count == 0:
            return
        rates = self.terms.buy_costs if count > 0 else self.terms.sell_costs
        amount = abs(count) * self.price(stock)
        fee = amount * Decimal(rates[stock])
        self.cash -= fee + (amount if count > 0 else -amount)
        self.shares[stock] += count
        self.paid += fee
        self.fills += 1

    def trade(self, actions: Sequence[float]) -> None:
        risk, limit = self.tape.risk, self.terms.threshold
        if limit is not None and self.day > 0 and risk is not None and risk[self.day] >= limit:
            for stock, held in enumerate(self.shares):
                self.move(stock, -held)
        else:
            self.fill([self.order(action) for action in actions])
        self.day += 1

    def order(self, action: float) -> int:
        wanted = Decimal(action * self.terms.hmax)
        return int(wanted.to_integral_value(rounding=ROUND_DOWN))

    def fill(self, orders: list[int]) -> None:
        signals = self.tape.signals[self.day]
        places = [n for n in range(len(orders)) if not len(signals) or signals[n] != 1]
        for stock in sorted(places, key=lambda n: (orders[n], n)):
            if orders[stock] < 0:
                self.move(stock, -min(-orders[stock], self.shares[stock]))
        for stock in sorted(places, key=lambda n: (-orders[n], -n)):
            if orders[stock] > 0:
                each = self.price(stock) * (1 + Decimal(self.terms.buy_costs[stock]))
                self.move(stock, min(int(self.cash // each), orders[stock]))


@pytest.mark.parametrize("stocks", [1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(12))
def test_it_keeps_the_same_account_as_a_ledger_in_decimals(stocks: int, seed: int) -> None:
    chance = random.Random(f"{stocks} {seed}")
    days = 60
    close = [[chance.uniform(5, 300) for _ in range(stocks)] for _ in range(days)]
    flags = [[chance.choice([0.0, 1.0, 0.5]) for _ in range(stocks)] for _ in range(days)]
    risk = [chance.uniform(0, 100) for _ in range(days)]
    tape = _tape(close, chance.choice([None, flags]), risk)
    terms = _terms(
        stocks,
        hmax=chance.choice([1, 30, 1000]),
        buy_costs=tuple(chance.choice([0.0, 0.001, 0.05]) for _ in range(stocks)),
        sell_costs=tuple(chance.choice([0.0, 0.002, 0.1]) for _ in range(stocks)),
        threshold=chance.choice([None, 80.0]),
    )
    cash = chance.choice([500.0, 1e4, 1e6])
    funds = Funds(cash, tuple(float(chance.randint(0, 40)) for _ in range(stocks)))
    ours, ledger = Trading(tape, terms, funds), Ledger(tape, terms, funds)
    with localcontext() as context:
        context.prec = 60
        for _ in range(days - 1):
            actions = [chance.choice([0.0, 1.0, -1.0, chance.uniform(-1, 1)]) for _ in close[0]]
            ours.trade(actions)
            ledger.trade(actions)
            assert ours.vector[stocks + 1 : 2 * stocks + 1] == ledger.shares
            assert ours.vector[0] == pytest.approx(float(ledger.cash), rel=1e-9, abs=1e-6)
            assert worth(ours.vector, stocks) == pytest.approx(float(ledger.worth()), rel=1e-9)
        assert ours.costs == pytest.approx(float(ledger.paid), rel=1e-9)
        assert ours.trades == ledger.fills


def test_a_state_is_cash_prices_holdings_and_indicators() -> None:
    tape = _tape([[10, 20], [11, 21]], flags=[[0.25, 0.5], [0.75, 0.125]])
    account = Trading(tape, _terms(2), Funds(1000.0, (3.0, 4.0)))
    assert account.vector == [1000, 10, 20, 3, 4, 0.25, 0.5]
    account.trade([0.0, 0.0])
    assert account.vector == [1000, 11, 21, 3, 4, 0.75, 0.125]


def test_shares_are_cut_toward_zero() -> None:
    account = Trading(_tape([[10, 10]] * 2), _terms(2), Funds(1e6, (50.0, 50.0)))
    account.trade([0.999, -0.0199])
    assert account.vector[3:] == [149, 49]


def test_what_is_sold_pays_for_what_is_bought_the_same_day() -> None:
    account = Trading(_tape([[10, 20]] * 2), _terms(2), Funds(0.0, (100.0, 0.0)))
    account.trade([-1.0, 1.0])
    assert account.vector == [0, 10, 20, 0, 50]


def test_the_largest_purchase_is_first() -> None:
    account = Trading(_tape([[10, 10, 10]] * 2), _terms(3), Funds(1000.0, (0.0,) * 3))
    account.trade([0.2, 0.9, 0.5])
    assert account.vector[4:] == [0, 90, 10]


def test_of_equal_purchases_the_last_stock_is_first() -> None:
    account = Trading(_tape([[10, 10, 10]] * 2), _terms(3), Funds(1500.0, (0.0,) * 3))
    account.trade([1.0, 1.0, 1.0])
    assert account.vector[4:] == [0, 50, 100]


def test_only_exactly_one_means_untradable() -> None:
    tape = _tape([[10, 10, 10]] * 2, flags=[[1.0, 1.0000001, 0.0]] * 2)
    account = Trading(tape, _terms(3), Funds(1e6, (5.0, 5.0, 5.0)))
    account.trade([1.0, 1.0, -1.0])
    assert account.vector[4:7] == [5, 105, 0]


def test_in_turbulence_all_is_sold_also_what_is_untradable_and_nothing_bought() -> None:
    tape = _tape([[10, 10]] * 3, flags=[[1.0, 0.0]] * 3, risk=[99, 50, 49])
    account = Trading(tape, _terms(2, threshold=50.0), Funds(0.0, (7.0, 8.0)))
    account.trade([0.0, 0.0])
    assert account.vector[3:5] == [7, 8], "the risk of the first day is not looked at"
    account.trade([1.0, 1.0])
    assert account.vector[:5] == [150, 10, 10, 0, 0]


def test_a_trace_less_than_no_cash_buys_nothing() -> None:
    account = Trading(_tape([[10.0]] * 2), _terms(1), Funds(-1e-12, (0.0,)))
    account.trade([1.0])
    assert account.vector == [-1e-12, 10, 0]


def test_cash_and_holdings_never_fall_below_nothing() -> None:
    for seed in range(40):
        chance = random.Random(seed)
        close = [[chance.choice([0.1, 0.3, 0.7, 1.1]) for _ in range(3)] for _ in range(80)]
        terms = _terms(3, hmax=10**9, buy_costs=(0.001, 0.1, 0.0))
        account = Trading(_tape(close), terms, Funds(1000.0, (0.0,) * 3))
        for _ in range(79):
            account.trade([chance.uniform(-1, 1) for _ in range(3)])
            assert account.vector[0] >= -1e-9
            assert min(account.vector[4:7]) >= 0


def test_an_order_may_be_endless() -> None:
    account = Trading(_tape([[10.0]] * 3), _terms(1, hmax=10**9), Funds(1000.0, (0.0,)))
    account.trade([1e308])
    assert account.vector == [0, 10, 100]
    account.trade([-1e308])
    assert account.vector == [1000, 10, 0]


@pytest.mark.parametrize("orders", [[3.0, 1.0, 2.0], [-1e308, 1e308, 0.0], [5.0]])
def test_numpy_ranks_orders_that_differ_as_we_do(orders: list[float]) -> None:
    assert list(ranked(orders)) == list(ranked_by_numpy(orders))
