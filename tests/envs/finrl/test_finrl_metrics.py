"""Metrics of portfolios, against the same in loops and decimals."""

import random
from decimal import Decimal, localcontext
from itertools import pairwise

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

from finrl_env.metrics import metrics


def _walk(seed: int, days: int) -> list[float]:
    chance = random.Random(seed)
    values = [chance.uniform(1e3, 1e6)]
    while len(values) < days:
        values.append(values[-1] * (1 + chance.gauss(0.0005, 0.02)))
    return values


@pytest.mark.parametrize("days", [10, 252, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_they_are_what_decimals_say(seed: int, days: int) -> None:
    values = _walk(seed, days)
    with localcontext() as context:
        context.prec = 50
        expected = _in_decimals([Decimal(value) for value in values])
    told = metrics(values)
    assert told.keys() == expected.keys()
    for name, value in expected.items():
        assert told[name] == pytest.approx(float(value), rel=1e-9, abs=1e-12), name


def _in_decimals(exact: list[Decimal]) -> dict[str, Decimal]:
    returns = [(after - before) / before for before, after in pairwise(exact)]
    mean = sum(returns, Decimal(0)) / len(returns)
    squares = sum(((each - mean) ** 2 for each in returns), Decimal(0))
    losses = sum((each**2 for each in returns if each < 0), Decimal(0))
    year = Decimal(252)
    spread, below = (squares / (len(returns) - 1)).sqrt(), (losses / len(returns)).sqrt()
    high, drawdown, growth = exact[0], Decimal(0), Decimal(1)
    for value in exact:
        high = max(high, value)
        drawdown = max(drawdown, (high - value) / high)
    for each in returns:
        growth *= 1 + each
    return {
        "total_return": growth - 1,
        "annualised_return": growth ** (year / len(returns)) - 1,
        "annualised_volatility": spread * year.sqrt(),
        "sharpe": mean / spread * year.sqrt(),
        "sortino": mean / below * year.sqrt(),
        "max_drawdown": drawdown,
    }


def test_a_portfolio_that_never_moves_has_no_ratios() -> None:
    told = metrics([100.0] * 10)
    assert (told["total_return"], told["annualised_return"], told["max_drawdown"]) == (0, 0, 0)
    assert told["annualised_volatility"] == 0
    assert told["sharpe"] is None
    assert told["sortino"] is None


def test_the_first_days_tell_what_can_be_told() -> None:
    assert metrics([100.0]) == {
        "total_return": 0.0,
        "annualised_return": None,
        "annualised_volatility": None,
        "sharpe": None,
        "sortino": None,
        "max_drawdown": 0.0,
    }
    assert metrics([100.0, 50.0])["max_drawdown"] == 0.5
    assert metrics([100.0, 50.0])["sharpe"] is None


def test_a_gain_without_a_loss_has_no_sortino() -> None:
    told = metrics([100.0, 110.0, 130.0])
    assert told["sortino"] is None
    assert told["sharpe"] > 0


def test_what_a_year_would_make_of_a_wild_day_is_not_told() -> None:
    assert metrics([1.0, 1e9])["annualised_return"] is None
    assert metrics([1e9, 1.0])["annualised_return"] == pytest.approx(-1)
