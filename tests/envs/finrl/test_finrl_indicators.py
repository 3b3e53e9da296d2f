"""Indicators and turbulence, against their formulas in plain loops."""

from collections.abc import Sequence

import pytest

pytest.importorskip("numpy", reason="pip install -e 'envs/finrl_env[dev]'")

import numpy as np

from finrl_env.indicators import computed
from finrl_env.market import Market
from finrl_env.synthetic import synthetic
from finrl_env.turbulence import turbulence
from openenv import InvalidRequest

MARKET = synthetic(3, 120, seed=11)
Line = list[float]


def _line(values: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", stock: int) -> Line:
    return [float(value) for value in values[:, stock]]


def _weighted(values: Sequence[float], decay: float) -> Line:
    """Each day's mean, with every weight written out."""
    result = []
    for today in range(len(values)):
        weights = [decay ** (today - day) for day in range(today + 1)]
        total = sum(w * v for w, v in zip(weights, values, strict=False))
        result.append(total / sum(weights))
    return result


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _macd(high: Line, low: Line, close: Line) -> Line:
    fast, slow = _weighted(close, 1 - 2 / 13), _weighted(close, 1 - 2 / 27)
    return [a - b for a, b in zip(fast, slow, strict=True)]


def _rsi(high: Line, low: Line, close: Line) -> Line:
    moves = [0.0] + [b - a for a, b in zip(close, close[1:], strict=False)]
    gains = _weighted([max(move, 0) for move in moves], 1 - 1 / 14)
    losses = _weighted([max(-move, 0) for move in moves], 1 - 1 / 14)
    result = []
    for gain, loss in zip(gains, losses, strict=True):
        if loss:
            result.append(100 - 100 / (1 + gain / loss))
        else:
            result.append(100.0 if gain else 50.0)
    return result


def _dx(high: Line, low: Line, close: Line) -> Line:
    """With the true range, which cancels out, as Wilder writes it."""
    plus, minus, ranges = [0.0], [0.0], [high[0] - low[0]]
    for day in range(1, len(close)):
        up, down = high[day] - high[day - 1], low[day - 1] - low[day]
        plus.append(up if up > down and up > 0 else 0.0)
        minus.append(down if down > up and down > 0 else 0.0)
        reached = max(high[day], close[day - 1]) - min(low[day], close[day - 1])
        ranges.append(reached)
    smooth = [_weighted(each, 1 - 1 / 30) for each in (plus, minus, ranges)]
    result = []
    for rise, fall, span in zip(*smooth, strict=True):
        positive, negative = 100 * rise / span, 100 * fall / span
        both = positive + negative
        result.append(100 * abs(positive - negative) / both if both else 0.0)
    return result


def _cci(high: Line, low: Line, close: Line) -> Line:
    typical = [_mean(day) for day in zip(high, low, close, strict=True)]
    result = []
    for day, price in enumerate(typical):
        window = typical[max(0, day - 19) : day + 1]
        middle = _mean(window)
        distance = _mean([abs(each - middle) for each in window])
        result.append((price - middle) / (0.015 * distance) if distance else 0.0)
    return result


def _sma(high: Line, low: Line, close: Line) -> Line:
    return [_mean(close[max(0, day - 9) : day + 1]) for day in range(len(close))]


def _upper_band(high: Line, low: Line, close: Line) -> Line:
    result = []
    for day in range(len(close)):
        window = close[max(0, day - 19) : day + 1]
        middle = _mean(window)
        squares = sum((each - middle) ** 2 for each in window)
        result.append(middle + 2 * (squares / max(1, len(window) - 1)) ** 0.5)
    return result


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("macd", _macd),
        ("rsi_14", _rsi),
        ("dx_30", _dx),
        ("cci_20", _cci),
        ("close_10_sma", _sma),
        ("boll_ub", _upper_band),
    ],
)
@pytest.mark.parametrize("stock", range(3))
def test_an_indicator_is_its_formula(name: str, formula: object, stock: int) -> None:
    assert callable(formula)
    values = computed(MARKET, name)
    assert values is not None
    expected = formula(*(_line(each, stock) for each in (MARKET.high, MARKET.low, MARKET.close)))
    assert _line(values, stock) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_known_values() -> None:
    """Figures of a market small enough to be computed by hand."""
    close = np.array([[10.0], [11.0], [10.5], [12.0]])
    market = Market(("A",), ("1", "2", "3", "4"), close, close + 1, close - 1)
    rsi = computed(market, "rsi_1")
    assert rsi is not None
    assert rsi[:, 0].tolist() == [50, 100, 0, 100]
    sma = computed(market, "close_2_sma")
    assert sma is not None
    assert sma[:, 0].tolist() == [10, 10.5, 10.75, 11.25]


@pytest.mark.parametrize("name", ["macd", "rsi_30", "cci_30", "dx_30", "boll_ub", "close_5_sma"])
def test_an_indicator_knows_nothing_of_tomorrow(name: str) -> None:
    cut = Market(
        MARKET.tickers, MARKET.dates[:70], MARKET.close[:70], MARKET.high[:70], MARKET.low[:70]
    )
    whole, part = computed(MARKET, name), computed(cut, name)
    assert whole is not None
    assert part is not None
    assert np.array_equal(whole[:70], part)


@pytest.mark.parametrize(
    ("name", "neutral"), [("macd", 0), ("rsi_30", 50), ("cci_30", 0), ("dx_30", 0)]
)
@pytest.mark.parametrize("price", [0.1, 1 / 3, 123_456_789.1])
def test_a_market_that_does_not_move_is_neutral(name: str, neutral: float, price: float) -> None:
    close = np.full((50, 2), price)
    values = computed(Market(("A", "B"), tuple(map(str, range(50))), close, close, close), name)
    assert values is not None
    assert np.allclose(values, neutral, atol=price * 1e-12)


@pytest.mark.parametrize(
    "name", ["rsi", "rsi_0", "rsi_9999", "rsi_1e3", "cci_-3", "close_0_sma", ""]
)
def test_other_names_are_none_of_an_indicator(name: str) -> None:
    assert computed(MARKET, name) is None


def test_turbulence_is_the_distance_from_the_past() -> None:
    """Solved by elimination, from a covariance that is added up pair by pair."""
    close = MARKET.close.tolist()
    told = turbulence(MARKET.close)[:, 0].tolist()
    returns = [
        [after / before - 1 for before, after in zip(*pair, strict=True)]
        for pair in zip(close, close[1:], strict=False)
    ]
    assert told[:31] == [0.0] * 31
    for day in (31, 60, 119):
        past = returns[: day - 1]
        middle = [_mean([each[n] for each in past]) for n in range(3)]
        covariance = [
            [
                sum((each[i] - middle[i]) * (each[j] - middle[j]) for each in past)
                / (len(past) - 1)
                for j in range(3)
            ]
            for i in range(3)
        ]
        unlike = [returns[day - 1][n] - middle[n] for n in range(3)]
        solved = _solved(covariance, unlike)
        expected = sum(a * b for a, b in zip(unlike, solved, strict=True))
        assert told[day] == pytest.approx(expected, rel=1e-9)


def test_turbulence_of_equal_stocks_is_finite() -> None:
    twins = np.repeat(MARKET.close[:, :1], 2, axis=1)
    assert np.isfinite(turbulence(twins)).all()
    assert turbulence(twins)[60] == pytest.approx(turbulence(MARKET.close[:, :1])[60])


def test_turbulence_that_takes_too_long_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="risk_indicator_col"):
        turbulence(np.ones((100, 1000)))


def _solved(matrix: list[Line], right: Line) -> Line:
    """Gauss and Jordan's elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for place in range(len(rows)):
        pivot = rows[place]
        rows[place] = pivot = [value / pivot[place] for value in pivot]
        for other in range(len(rows)):
            if other != place:
                factor = rows[other][place]
                rows[other] = [a - factor * b for a, b in zip(rows[other], pivot, strict=True)]
    return [row[-1] for row in rows]
