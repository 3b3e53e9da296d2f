"""What a run must have reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from blackjack_env.exact import evaluate
from blackjack_env.policies import always_stand

START_AT_MOST = -0.25
MIDDLE_AT_LEAST = -0.14
END_AT_LEAST = -0.10
BLIND_AT_MOST = evaluate(always_stand).value
LEAST_GAIN = 0.1  # of a short run


class Mark(NamedTuple):
    """One condition."""

    text: str
    passed: bool


def marks_of(figures: Mapping[str, Any]) -> list[Mark]:
    """The conditions for a run of that kind: a full one, a short one, or one without cards."""
    start, middle, end = (figures[f"{when}_ev"] for when in ("start", "middle", "end"))
    if figures["blind"]:
        best = max(point["ev"] for point in figures["points"])
        text = f"without cards it never beats {BLIND_AT_MOST:.3f}: {best:+.3f}"
        return [Mark(text, best <= BLIND_AT_MOST + 1e-9)]
    if figures["model"]:  # nobody knows where it starts
        return [Mark(f"end > start: {start:+.3f} → {end:+.3f}", end > start)]
    marks = [Mark(f"start ≤ {START_AT_MOST}: {start:+.3f}", start <= START_AT_MOST)]
    if middle is None:
        return [*marks, Mark(f"gain ≥ {LEAST_GAIN}: {end - start:+.3f}", end - start >= LEAST_GAIN)]
    return [
        *marks,
        Mark(f"12,288 games ≥ {MIDDLE_AT_LEAST}: {middle:+.3f}", middle >= MIDDLE_AT_LEAST),
        Mark(f"end ≥ {END_AT_LEAST}: {end:+.3f}", end >= END_AT_LEAST),
    ]
