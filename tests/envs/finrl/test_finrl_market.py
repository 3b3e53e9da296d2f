"""Markets that are made: waves, and the motion of a generator with regimes."""

import hashlib
import math
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

import numpy as np

from finrl_env import sample
from finrl_env.market import business_days, sine
from finrl_env.synthetic import REGIMES, synthetic
from finrl_env.table import read_market
from finrl_env.tape import SAMPLE


def test_the_sample_is_what_the_generator_writes(tmp_path: Path) -> None:
    sample.main([str(tmp_path / "made.csv")])
    assert (tmp_path / "made.csv").read_text() == SAMPLE.read_text()
    market, made = read_market(SAMPLE), synthetic(3, 252, 2020)
    assert np.array_equal(market.close, made.close)
    assert (market.tickers, market.dates) == (made.tickers, made.dates)


def test_a_seed_makes_the_same_market_on_every_machine() -> None:
    market = synthetic(4, 500, 7)
    cents = np.round(np.stack([market.close, market.high, market.low]) * 100).astype("<i8")
    digest = hashlib.sha256(cents.tobytes()).hexdigest()
    assert digest[:16] == "ee9cb37894ebbbd0"
    assert not np.array_equal(synthetic(4, 500, 8).close, market.close)


@pytest.mark.parametrize("seed", range(5))
def test_a_day_s_prices_are_in_order(seed: int) -> None:
    market = synthetic(5, 400, seed)
    opened = market.columns["open"]
    assert (market.low <= np.minimum(opened, market.close)).all()
    assert (market.high >= np.maximum(opened, market.close)).all()
    assert np.array_equal(opened[1:], market.close[:-1])
    assert (market.low >= 0.01).all()
    assert ((market.close[0] >= 20) & (market.close[0] <= 200)).all()


def test_a_market_is_calm_and_then_it_is_not() -> None:
    """Volatility comes in clusters: squared returns tell something of those of the next day."""
    returns = np.diff(np.log(synthetic(1, 8000, 3).close[:, 0]))
    yearly = float(np.std(returns)) * math.sqrt(252)
    assert REGIMES[0].volatility * 0.7 < yearly < REGIMES[-1].volatility * 1.3
    squares = np.square(returns)
    assert np.corrcoef(squares[1:], squares[:-1])[0, 1] > 0.1
    kurtosis = np.mean((returns - np.mean(returns)) ** 4) / np.var(returns) ** 2
    assert kurtosis > 4, "a normal's is 3"


def test_stocks_move_together() -> None:
    close = synthetic(2, 4000, 5).close
    returns = np.diff(np.log(close), axis=0)
    assert 0.25 < np.corrcoef(returns.T)[0, 1] < 0.7


def test_the_wave_of_a_single_stock_is_that_of_finrl_s_package() -> None:
    close = sine(1, 100).close[:, 0].tolist()
    expected = [100 + 10 * math.sin(4 * math.pi * day / 99) for day in range(100)]
    assert close == pytest.approx(expected, abs=1e-9)


def test_waves_are_equal_parts_apart() -> None:
    market = sine(4, 9)
    assert market.tickers == ("SAMPLE", "SAMPLE2", "SAMPLE3", "SAMPLE4")
    assert market.close[0].tolist() == pytest.approx([100, 110, 100, 90])


@pytest.mark.parametrize("count", [2, 4, 5, 6, 11, 10_000])
def test_days_of_business(count: int) -> None:
    days = business_days(count)
    assert len(days) == count
    assert days[:2] == ("2020-01-01", "2020-01-02")
    assert "2020-01-04" not in days
