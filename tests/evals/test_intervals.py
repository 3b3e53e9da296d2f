"""Confidence intervals: against published tables, and by how often they hold the truth."""

import random

import pytest

from openenv.evals import Interval, mean_interval, rate_interval
from openenv.evals.intervals import t_quantile


@pytest.mark.parametrize(
    ("probability", "freedom", "value"),
    [
        (0.975, 1, 12.7062),
        (0.975, 2, 4.30265),
        (0.975, 5, 2.57058),
        (0.975, 10, 2.22814),
        (0.975, 30, 2.04227),
        (0.975, 120, 1.97993),
        (0.995, 4, 4.60409),
        (0.95, 9, 1.83311),
        (0.975, 10**6, 1.95997),
    ],
)
def test_quantiles_of_t_are_those_of_the_tables(
    probability: float, freedom: int, value: float
) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(value, abs=5e-5)


def test_a_mean_has_students_interval() -> None:
    interval = mean_interval([1.0, 2.0, 3.0, 4.0])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.4457397, 4.5542603))


@pytest.mark.parametrize("values", [[], [1.0]])
def test_too_few_values_have_no_interval(values: list[float]) -> None:
    assert mean_interval(values) is None


def test_a_rate_has_wilsons_interval() -> None:
    interval = rate_interval(5, 10)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.2365931, 0.7634069))


def test_a_rate_of_none_or_all_has_an_interval_too() -> None:
    none, every = rate_interval(0, 10), rate_interval(10, 10)
    assert none is not None
    assert every is not None
    assert none.low == 0.0
    assert none.high == pytest.approx(0.2775328)
    assert every.low == pytest.approx(0.7224672)
    assert every.high == 1.0
    assert rate_interval(0, 0) is None


def test_an_interval_of_a_mean_holds_the_truth_as_often_as_it_says() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(1000):
        interval = mean_interval([chance.gauss(3.0, 2.0) for _ in range(8)])
        held += interval is not None and 3.0 in interval
    assert 0.93 < held / 1000 < 0.97


def test_ends_belong_to_an_interval() -> None:
    assert 0.0 in Interval(0.0, 1.0)
    assert 1.1 not in Interval(0.0, 1.0)
