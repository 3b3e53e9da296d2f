"""Chance is drawn as it was asked for, again and again the same."""

import random
from typing import Any

import pytest

from openenv import ConfigurationError
from openenv.testing import Faults


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"swallow": -0.1}, "swallow is a probability from 0 to 1, got -0.1"),
        ({"refuse": 1.5}, "refuse is a probability from 0 to 1, got 1.5"),
        ({"swallow": 0.6, "delay": 0.6}, "add up to 1.2"),
        ({"delay_s": (0.5, 0.1)}, "delay_s is"),
        ({"freeze_s": (-1.0, 0.1)}, "freeze_s is"),
        ({"statuses": ()}, "statuses is empty"),
    ],
)
def test_faults_that_make_no_sense_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Faults(**wrong)


def test_each_fault_is_drawn_as_often_as_was_asked() -> None:
    faults = Faults(swallow=0.1, delay=0.2, cut_inside=0.3)
    dice = random.Random(1)
    drawn = [faults.draw(dice) for _ in range(10_000)]
    assert faults.share == pytest.approx(0.6)
    for name, share in (("swallow", 0.1), ("delay", 0.2), ("cut_inside", 0.3), (None, 0.4)):
        assert drawn.count(name) / len(drawn) == pytest.approx(share, abs=0.02)  # type: ignore[arg-type]


def test_the_same_seed_draws_the_same() -> None:
    faults = Faults(swallow=0.2, duplicate=0.2)
    first, again = random.Random("a seed"), random.Random("a seed")
    assert [faults.draw(first) for _ in range(100)] == [faults.draw(again) for _ in range(100)]
