"""Charts made of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blackjack_env.exact import UP_CARDS, Policy, Situation

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """A row of bars, each as high as its value."""
    return "".join(BARS[_row(value, low, high, len(BARS))] for value in values)


def chart(
    curves: Mapping[str, Sequence[float]], levels: Mapping[str, float], rows: int = 12
) -> str:
    """Curves over time, each drawn with the character that names it, and levels to compare with."""
    numbers = [*levels.values(), *(value for curve in curves.values() for value in curve)]
    low, high = min(numbers), max(numbers)
    names = {_row(value, low, high, rows): name for name, value in levels.items()}
    width = max(map(len, curves.values()))
    canvas = [["┄" if row in names else " "] * width for row in range(rows)]
    for point, curve in curves.items():
        for column, value in enumerate(curve):
            canvas[_row(value, low, high, rows)][column] = point
    lines = []
    for row in reversed(range(rows)):
        middle = low + (row + 0.5) / rows * (high - low)
        lines.append(f"{middle:+.3f} ┤{''.join(canvas[row])} {names.get(row, '')}")
    return "\n".join(lines)


def strategy(policy: Policy) -> str:
    """A policy as players print it: a row for each hand, a column for each card of the dealer."""
    lines = ["dealer   " + " ".join("A23456789T")]
    for ace, kind in ((True, "soft"), (False, "hard")):
        for points in range(21, 11, -1):
            hits = [policy(Situation(points, ace, card)) > 0.5 for card in UP_CARDS]
            lines.append(f"{kind} {points}  " + " ".join("H" if hit else "·" for hit in hits))
    return "\n".join(lines)


def _row(value: float, low: float, high: float, rows: int) -> int:
    share = (value - low) / (high - low) if high > low else 0.0
    return min(rows - 1, max(0, int(share * rows)))
