"""Comparing two policies: paired by seed, for what a seed deals is the same for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from openenv.evals.evaluation import Evaluation, NotAnEvaluation
from openenv.evals.intervals import Interval, mean_interval
from openenv.evals.scorecard import Scorecard
from openenv.protocol.errors import Json

FEWEST_PAIRS = 6
"""With fewer, not even a policy that is better each time can be told apart at 5 % (2/2⁵ > 0.05)."""
_CONDITIONS = ("environment", "options", "max_steps", "openenv_version")


@dataclass(frozen=True)
class Side:
    """A policy in an evaluation.

    Attributes:
        evaluation: under which conditions it played.
        card: what it achieved.
        name: what the comparison calls it.
    """

    evaluation: Evaluation
    card: Scorecard
    name: str

    @classmethod
    def of(cls, evaluation: Evaluation, policy: str | None = None, name: str | None = None) -> Side:
        """A policy by its name; the only one, if it is not named.

        Raises:
            NotAnEvaluation: there are several, or none of that name.
        """
        known = [card.policy for card in evaluation.policies]
        if policy is None and len(known) == 1:
            policy = known[0]
        if policy not in known:
            raise NotAnEvaluation(
                f"the evaluation has the policies {', '.join(known)}; name one of them, "
                f"got {policy!r}"
            )
        return cls(evaluation, evaluation[policy], name or policy)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Which of two policies is better, if that can be told.

    Attributes:
        first: the name of the one.
        second: the name of the other.
        differences: by seed, the first's reward less the second's; those of both that count.
        interval: Student's 95 % interval of the mean difference; `None` for fewer than two pairs.
        unpaired: seeds that only one of them has a reward of.
        warnings: what makes the comparison worth less than it looks.
    """

    first: str
    second: str
    differences: dict[int | None, float]
    interval: Interval | None
    unpaired: int
    warnings: Sequence[str]

    @property
    def mean_difference(self) -> float | None:
        """The mean of the differences; `None` without a pair."""
        return fmean(self.differences.values()) if self.differences else None

    @property
    def better(self) -> str | None:
        """The name of the better one; `None` if that cannot be told.

        It can where there are enough pairs and the interval of the difference lies on one side
        of 0.
        """
        if self.interval is None or 0.0 in self.interval or len(self.differences) < FEWEST_PAIRS:
            return None
        return self.first if self.interval.low > 0 else self.second

    @property
    def verdict(self) -> str:
        """The outcome in a sentence."""
        pairs = f"{len(self.differences)} seeds"
        if self.better is not None:
            other = self.second if self.better == self.first else self.first
            return f"{self.better} is better than {other}, by the rewards of {pairs}"
        if len(self.differences) < FEWEST_PAIRS:
            return f"cannot tell: {pairs} have rewards of both, and {FEWEST_PAIRS} are needed"
        return f"cannot tell: the interval of the difference holds 0, by the rewards of {pairs}"

    def to_dict(self) -> Json:
        """The comparison as JSON takes it."""
        return {
            "first": self.first,
            "second": self.second,
            "mean_difference": self.mean_difference,
            "ci95": [self.interval.low, self.interval.high] if self.interval else None,
            "pairs": len(self.differences),
            "unpaired": self.unpaired,
            "better": self.better,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
            "differences": [
                {"seed": seed, "difference": value} for seed, value in self.differences.items()
            ],
        }


def compare(first: Side, second: Side) -> Comparison:
    """Compares two policies by the rewards of the seeds that both have played.

    A seed's reward is the mean of its episodes', so that each seed counts once.
    """
    one, other = first.card.by_seed, second.card.by_seed
    shared = [seed for seed in one if seed in other]
    differences = {seed: one[seed] - other[seed] for seed in shared}
    unpaired = len(one.keys() ^ other.keys())
    return Comparison(
        first=first.name,
        second=second.name,
        differences=differences,
        interval=mean_interval(list(differences.values())),
        unpaired=unpaired,
        warnings=[*_different(first.evaluation, second.evaluation), *_lost(unpaired)],
    )


def together(first: Side, second: Side) -> Evaluation:
    """The two policies side by side, under the names of the comparison."""
    cards = [replace(side.card, policy=side.name) for side in (first, second)]
    return replace(first.evaluation, policies=cards)


def _different(one: Evaluation, other: Evaluation) -> list[str]:
    """In which conditions two evaluations differ."""
    told = []
    for name in _CONDITIONS:
        values = getattr(one, name), getattr(other, name)
        if values[0] != values[1]:
            told.append(f"{name} differs: {values[0]} and {values[1]}")
    if sorted(one.seeds) != sorted(other.seeds):
        told.append(f"seeds differ: {len(set(one.seeds) & set(other.seeds))} are in both")
    return told


def _lost(unpaired: int) -> list[str]:
    if not unpaired:
        return []
    return [f"{unpaired} seeds are left out, for only one of the two has a reward there"]
