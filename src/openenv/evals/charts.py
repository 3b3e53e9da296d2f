"""Plots as SVG, coloured by the page that they stand in."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from openenv.evals.intervals import Interval

KindT = TypeVar("KindT", bound=str)

WIDTH = 720
_LEFT, _RIGHT, _ROW = 220, 24, 34
_BINS = 24
_FEW_BARS = 12
_LONGEST_NAME = 28
_HIGH = 110


@dataclass(frozen=True)
class Axis:
    """A horizontal axis.

    Attributes:
        low: the value at its left end.
        high: the value at its right end.
        ticks: where a number stands.
    """

    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def over(cls, values: Sequence[float]) -> Axis:
        """An axis that has room for all the values, with round numbers on it."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        if low == high:
            low, high = low - 0.5 * (abs(low) or 1), high + 0.5 * (abs(high) or 1)
        step = _round_step((high - low) / 5)
        first, last = math.floor(low / step), math.ceil(high / step)
        ticks = [round(step * k, 12) for k in range(first, last + 1)]
        return cls(ticks[0], ticks[-1], ticks)

    def at(self, value: float) -> float:
        """Where a value is, in pixels."""
        return _LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - _LEFT - _RIGHT)

    def drawn(self, height: float) -> Iterator[str]:
        """The axis with its numbers, and lines up from them."""
        for tick in self.ticks:
            x = self.at(tick)
            zero = ' class="zero"' if tick == 0 else ' class="grid"'
            yield f'<line{zero} x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height:.1f}"/>'
            yield _text(x, height + 16, f"{tick:g}", "tick")


def interval_chart(rows: Sequence[tuple[str, float, Interval | None]], title: str) -> str:
    """Means with their intervals, one below the other, from 0 on.

    Args:
        rows: name, mean and interval of each.
        title: what is said to those who cannot see it.
    """
    ends = [end for _, _, span in rows if span for end in (span.low, span.high)]
    axis = Axis.over([*ends, *(mean for _, mean, _ in rows), 0.0])
    height = _ROW * len(rows) + 8
    parts = list(axis.drawn(height))
    for index, (name, mean, span) in enumerate(rows):
        y = _ROW * index + _ROW / 2 + 4
        tone = f"tone-{index % 6}"
        parts.append(_name(name, y))
        if span:
            low, high = axis.at(span.low), axis.at(span.high)
            parts.append(_line(low, high, y, y, f"whisker {tone}"))
            parts += [_line(x, x, y - 6, y + 6, f"whisker {tone}") for x in (low, high)]
        told = f"<title>{escape(name)}: {mean:.4g}</title>"
        parts.append(f'<circle class="{tone}" cx="{axis.at(mean):.1f}" cy="{y}" r="6">{told}')
        parts.append("</circle>")
    return _figure(parts, height + 24, title)


def share_chart(rows: Mapping[str, Mapping[KindT, float]], title: str) -> str:
    """Shares of 1 as bars of coloured parts, with a legend of what there is.

    Args:
        rows: by name, the share of each kind; all have the same kinds.
        title: what is said to those who cannot see it.
    """
    kinds = {kind: None for shares in rows.values() for kind, share in shares.items() if share}
    axis = Axis(0.0, 1.0, ())
    parts = []
    for index, (name, shares) in enumerate(rows.items()):
        y, begun = _ROW * index + 8, 0.0
        parts.append(_name(name, y + 11))
        for kind in kinds:
            share = shares.get(kind, 0.0)
            told = f"<title>{escape(name)}: {_spoken(kind)} {100 * share:.1f} %</title>"
            width = axis.at(begun + share) - axis.at(begun)
            place = f'x="{axis.at(begun):.1f}" y="{y}" width="{width:.1f}" height="22"'
            parts.append(f'<rect class="end-{escape(kind)}" {place}>{told}</rect>')
            begun += share
    height = _ROW * len(rows) + 8
    return _figure(parts + list(_legend(list(kinds), height + 8)), height + 28, title)


def histogram(name: str, values: Sequence[float], axis: Axis, index: int = 0) -> str:
    """How often which value was there.

    Args:
        name: of what the values are of.
        values: of which there is at least one.
        axis: which several plots may have in common.
        index: of the colour.
    """
    width = (axis.high - axis.low) / _BINS
    counts = Counter(round((value - axis.low) / width) for value in values)
    breadth = axis.at(width) - axis.at(0.0) - 2
    parts = [*axis.drawn(_HIGH), _name(name, _HIGH / 2)]
    for number, count in sorted(counts.items()):
        middle = axis.low + number * width
        x, high = axis.at(middle), (_HIGH - 24) * count / max(counts.values())
        told = f"<title>about {middle:.3g}: {count}</title>"
        size = f'width="{breadth:.1f}" height="{high:.1f}"'
        place = f'x="{x - breadth / 2:.1f}" y="{_HIGH - high:.1f}"'
        parts.append(f'<rect class="tone-{index % 6}" {place} {size}>{told}</rect>')
        if len(counts) <= _FEW_BARS:
            parts.append(_text(x, _HIGH - high - 5, str(count), "tick"))
    return _figure(parts, _HIGH + 24, f"How often {name} had which reward")


def _figure(parts: Sequence[str], height: float, title: str) -> str:
    shown = "".join(parts)
    label = escape(title, quote=True)
    opening = f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {height:.0f}">'
    return f'<div class="wide">{opening}{shown}</svg></div>'


def _legend(kinds: Sequence[str], y: float) -> Iterator[str]:
    x = float(_LEFT)
    for kind in kinds:
        yield f'<rect class="end-{escape(kind)}" x="{x:.0f}" y="{y}" width="12" height="12"/>'
        yield _text(x + 18, y + 11, _spoken(kind), "key")
        x += 40 + 7.5 * len(kind)


def _name(name: str, y: float) -> str:
    cut = name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
    return _text(_LEFT - 14, y + 4, cut, "name")


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _line(x1: float, x2: float, y1: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def _spoken(kind: str) -> str:
    return escape(kind.replace("_", " "))


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10 … that is no smaller."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)
