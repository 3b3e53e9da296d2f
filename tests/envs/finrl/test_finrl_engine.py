"""FinRL's class as the engine, against one that is made as its interface is written down."""

import sys
import types
from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

import numpy as np

from finrl_env import FinRLAction
from finrl_env.server import FinRLEnvironment
from openenv import ConfigurationError, InvalidRequest

MODULE = "finrl.meta.env_stock_trading.env_stocktrading"


class Frame:
    """As much of a `pandas.DataFrame` as is made for FinRL: columns and an index."""

    def __init__(self, columns: dict[str, Any], index: Any) -> None:
        self.columns, self.index = columns, list(index)

    def rows(self, day: int, name: str) -> list[float]:
        return [v for v, of in zip(self.columns[name], self.index, strict=True) if of == day]


class StockTradingEnv:
    """Buys and sells shares without costs; all of FinRL's interface that is used, and no more."""

    day: int
    hmax: int
    stock_dim: int
    initial_amount: float
    num_stock_shares: list[int]
    tech_indicator_list: list[str]
    df: Frame

    def __init__(self, **arguments: Any) -> None:
        self.__dict__.update(arguments)
        self.trades, self.cost = 0, 0
        self.state = self._state(self.initial_amount, self.num_stock_shares)

    def _state(self, cash: float, shares: Sequence[float]) -> list[Any]:
        signals = [self.df.rows(self.day, name) for name in self.tech_indicator_list]
        return [cash, *self.df.rows(self.day, "close"), *shares, *sum(signals, [])]

    def step(self, actions: Any) -> tuple[list[Any], float, bool, bool, dict[str, Any]]:
        assert isinstance(actions, np.ndarray)
        assert actions.shape == (self.stock_dim,)
        count = (actions * self.hmax).astype(int)
        prices = np.array(self.state[1 : self.stock_dim + 1])
        held = np.array(self.state[self.stock_dim + 1 : 2 * self.stock_dim + 1])
        self.trades += int((count != 0).sum())
        self.cost += np.float64(1.5)
        self.day += 1
        self.state = self._state(self.state[0] - float(prices @ count), held + count)
        return self.state, 0.0, False, False, {}


@pytest.fixture
def finrl(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of FinRL's name, and one of pandas'."""
    parts = MODULE.split(".")
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules[MODULE].StockTradingEnv = StockTradingEnv  # type: ignore[attr-defined]
    pandas = types.ModuleType("pandas")
    pandas.DataFrame = Frame  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)


@pytest.mark.usefixtures("finrl")
@pytest.mark.parametrize("market", ["sine", "sample"])
def test_it_is_traded_as_ours_is(market: str) -> None:
    options: dict[str, Any] = {"market": market, "buy_cost_pct": 0, "sell_cost_pct": 0}
    ours, theirs = FinRLEnvironment(**options), FinRLEnvironment(**options, engine="finrl")
    expected, seen = ours.reset(seed=1), theirs.reset(seed=1)
    stocks = len(seen.tickers)
    for action in (0.5, 0.25, -0.1, 0.0):
        assert seen.state == pytest.approx(expected.state)
        assert all(type(number) is float for number in seen.state)
        assert (seen.date, seen.metadata["filled"]) == (expected.date, expected.metadata["filled"])
        assert seen.reward == pytest.approx(expected.reward)
        expected, seen = (
            each.step(FinRLAction(actions=[action] * stocks)) for each in (ours, theirs)
        )
    assert theirs.state.metrics["costs"] == 6.0
    assert theirs.state.metrics["trades"] == ours.state.metrics["trades"] == 3 * stocks


@pytest.mark.usefixtures("finrl")
def test_its_episode_ends_as_ours_does() -> None:
    environment = FinRLEnvironment(engine="finrl", days=4)
    environment.reset()
    results = [environment.step(FinRLAction(actions=[1.0])) for _ in range(5)]
    assert [result.done for result in results] == [False, False, False, True, True]
    assert results[2].reward != 0.0 == results[3].reward
    assert environment.step(FinRLAction(actions=[1.0, 2.0])).metadata["error"]


@pytest.mark.usefixtures("finrl")
def test_it_needs_an_indicator() -> None:
    with pytest.raises(InvalidRequest, match="tech_indicator_list"):
        FinRLEnvironment(engine="finrl", tech_indicator_list=[]).reset()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "finrl", None)
    environment = FinRLEnvironment(engine="finrl")
    with pytest.raises(ConfigurationError, match="pip install 'finrl==0.3.7'"):
        environment.reset()
