"""Scorecards: what a policy achieved in an evaluation, and how sure that is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import fmean
from typing import get_args

from openenv.evals.intervals import Interval, mean_interval, rate_interval
from openenv.evals.outcomes import EpisodeOutcome, Reason
from openenv.protocol.errors import Json

REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True)
class Scorecard:
    """One policy's episodes.

    An episode that an error ended, or that has no reward that counts, is in no mean: it is counted
    apart, for it is no 0.

    Attributes:
        policy: its name.
        outcomes: its episodes.
        seconds: how long those took that were played now, several at a time.
    """

    policy: str
    outcomes: Sequence[EpisodeOutcome]
    seconds: float = 0.0

    @property
    def rewards(self) -> list[float]:
        """The rewards that count."""
        return [outcome.reward for outcome in self.outcomes if outcome.reward is not None]

    @cached_property
    def by_seed(self) -> Mapping[int | None, float]:
        """The mean of the rewards that count, by seed."""
        rewards: defaultdict[int | None, list[float]] = defaultdict(list)
        for outcome in self.outcomes:
            if outcome.reward is not None:
                rewards[outcome.seed].append(outcome.reward)
        return {seed: fmean(own) for seed, own in rewards.items()}

    @property
    def mean_reward(self) -> float | None:
        """The mean over seeds of the rewards that count; `None` if there are none."""
        return fmean(self.by_seed.values()) if self.by_seed else None

    @property
    def reward_interval(self) -> Interval | None:
        """Student's 95 % interval of the mean, over seeds.

        Episodes of the same seed are not independent, so that each seed counts once. Where there
        is only one seed, its episodes do, and the interval holds for that seed.
        """
        values = list(self.by_seed.values())
        return mean_interval(values if len(values) > 1 else self.rewards)

    @property
    def success_rate(self) -> float | None:
        """The share of successes among the episodes of which that can be told."""
        told = self._told
        return sum(told) / len(told) if told else None

    @property
    def success_interval(self) -> Interval | None:
        """Wilson's 95 % interval of the success rate."""
        return rate_interval(sum(self._told), len(self._told))

    @property
    def scored(self) -> int:
        """Episodes whose reward counts."""
        return len(self.rewards)

    @property
    def failed(self) -> int:
        """Episodes that an error ended."""
        return sum(outcome.failed for outcome in self.outcomes)

    @property
    def unrewarded(self) -> int:
        """Episodes that were played, but have no reward, or one that could not be computed."""
        return len(self.outcomes) - self.scored - self.failed

    @property
    def mean_steps(self) -> float | None:
        """Steps of an episode that no error ended."""
        steps = [outcome.steps for outcome in self.outcomes if not outcome.failed]
        return fmean(steps) if steps else None

    @property
    def mean_seconds(self) -> float | None:
        """Seconds that the environment took for an episode that no error ended."""
        seconds = [outcome.seconds for outcome in self.outcomes if not outcome.failed]
        return fmean(seconds) if seconds else None

    def shares(self) -> dict[Reason, float]:
        """Which share of all episodes ended for which reason."""
        counts = Counter(outcome.reason for outcome in self.outcomes)
        total = max(len(self.outcomes), 1)
        return {reason: counts[reason] / total for reason in REASONS}

    def why_unscored(self) -> Counter[str]:
        """Why episodes have no reward that counts, and how many each time."""
        return Counter(outcome.unscored for outcome in self.outcomes if outcome.unscored)

    def to_dict(self) -> Json:
        """The card as JSON takes it: the figures for readers, and the episodes they come from."""
        return {
            "policy": self.policy,
            "mean_reward": self.mean_reward,
            "reward_ci95": _ends(self.reward_interval),
            "success_rate": self.success_rate,
            "success_ci95": _ends(self.success_interval),
            "shares": self.shares(),
            "episodes": len(self.outcomes),
            "scored": self.scored,
            "unrewarded": self.unrewarded,
            "failed": self.failed,
            "mean_steps": self.mean_steps,
            "mean_seconds": self.mean_seconds,
            "seconds": self.seconds,
            "outcomes": [asdict(outcome) for outcome in self.outcomes],
        }

    @cached_property
    def _told(self) -> list[bool]:
        return [outcome.success for outcome in self.outcomes if outcome.success is not None]


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
