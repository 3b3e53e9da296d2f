"""The figures of an evaluation as cells of tables, for terminals and for pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openenv.evals.comparing import Comparison
from openenv.evals.evaluation import Evaluation
from openenv.evals.intervals import Interval
from openenv.evals.scorecard import REASONS, Scorecard

NONE = "–"
COUNTS_FROM = 5
"""The column of `figures` from which on it tells what the others rest on."""
_MOST_REASONS = 5


@dataclass(frozen=True)
class Table:
    """Cells of text.

    Attributes:
        headers: what stands above the columns.
        rows: below it.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]

    def split(self, column: int) -> tuple[Table, Table]:
        """Two narrower tables, the second from this column on; both begin with the first one."""
        rest = [[row[0], *row[column:]] for row in (self.headers, *self.rows)]
        before = Table(self.headers[:column], [row[:column] for row in self.rows])
        return before, Table(rest[0], rest[1:])


def figures(evaluation: Evaluation) -> Table:
    """What each policy achieved, and on how many episodes that rests."""
    headers = (
        "policy", "mean reward", "95 % CI", "success", "95 % CI", "episodes", "scored",
        "unrewarded", "failed", "steps", "s/episode",
    )  # fmt: skip
    return Table(headers, [_figures(card) for card in evaluation.policies])


def endings(evaluation: Evaluation) -> Table:
    """Which share of each policy's episodes ended why; reasons of none are left out."""
    shares = [card.shares() for card in evaluation.policies]
    there = [reason for reason in REASONS if any(own[reason] for own in shares)]
    rows = [
        [card.policy, *(percent(own[reason]) for reason in there)]
        for card, own in zip(evaluation.policies, shares, strict=True)
    ]
    return Table(["policy", *(reason.replace("_", " ") for reason in there)], rows)


def losses(evaluation: Evaluation) -> list[str]:
    """Why episodes are in no mean, the most frequent first."""
    return [
        f"{card.policy}: {count} × {why}"
        for card in evaluation.policies
        for why, count in card.why_unscored().most_common(_MOST_REASONS)
    ]


def difference(comparison: Comparison) -> Table:
    """By how much one policy is better."""
    headers = ("difference", "mean", "95 % CI", "seeds", "left out")
    row = [
        f"{comparison.first} − {comparison.second}",
        number(comparison.mean_difference),
        span(comparison.interval),
        str(len(comparison.differences)),
        str(comparison.unpaired),
    ]
    return Table(headers, [row])


def number(value: float | None) -> str:
    """A figure in few digits."""
    if value is None:
        return NONE
    if value and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:.3f}"


def percent(share: float | None) -> str:
    """A share of 1 as a percentage."""
    return NONE if share is None else f"{100 * share:.1f} %"


def span(interval: Interval | None) -> str:
    """The ends of an interval."""
    return NONE if interval is None else f"{number(interval.low)} … {number(interval.high)}"


def _figures(card: Scorecard) -> list[str]:
    success = card.success_interval
    return [
        card.policy,
        number(card.mean_reward),
        span(card.reward_interval),
        percent(card.success_rate),
        NONE if success is None else f"{100 * success.low:.1f} … {percent(success.high)}",
        str(len(card.outcomes)),
        str(card.scored),
        str(card.unrewarded),
        str(card.failed),
        NONE if card.mean_steps is None else f"{card.mean_steps:.1f}",
        number(card.mean_seconds),
    ]
