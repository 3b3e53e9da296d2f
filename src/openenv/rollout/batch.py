"""Batch: the results of several slots, as lists and as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from openenv.client.codec import ObsT
from openenv.client.results import StepResult
from openenv.rollout.stacking import numpy, stack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Row(NamedTuple):
    """One slot's part of a batch.

    Attributes:
        slot: which.
        result: what its call gave, `None` if it failed.
        error: why it failed.
        began: the result is an episode's first.
        stand_in: that came in the place of a step.
        final: the last result of the episode before it, if the same call ended that one.
    """

    slot: int
    result: StepResult[Any] | None = None
    error: Exception | None = None
    began: bool = False
    stand_in: bool = False
    final: StepResult[Any] | None = None

    @property
    def outcome(self) -> StepResult[Any] | None:
        """The result whose reward and end are the row's."""
        return self.result if self.final is None else self.final

    @property
    def reward(self) -> float:
        """The reward; NaN where there is none, 0 where a reset stood in for a step."""
        outcome = self.outcome
        if outcome is None:
            return math.nan
        if self.stand_in and self.final is None:
            return 0.0
        reward = outcome.reward
        return math.nan if reward is None else float(reward)


class Batch(Generic[ObsT]):
    """The results of some slots, one row for each. Arrays are made when they are first read.

    `batch[i]` is the result of row `i`; it raises the error of a row that has none.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> StepResult[ObsT]:
        row = self._rows[index]
        if row.result is None:
            raise row.error or LookupError(f"slot {row.slot} has no result")
        return row.result

    def __repr__(self) -> str:
        failed = len(self) - sum(row.result is not None for row in self._rows)
        return f"<Batch of {len(self)} rows{f', {failed} failed' if failed else ''}>"

    @cached_property
    def slots(self) -> NDArray[np.int64]:
        """Which slots, in the rows' order: int64 of shape `(len,)`."""
        slots: NDArray[np.int64] = numpy().array([row.slot for row in self._rows], "int64")
        return slots

    @cached_property
    def results(self) -> list[StepResult[ObsT] | None]:
        """The results; `None` where a call failed."""
        return [row.result for row in self._rows]

    @cached_property
    def observations(self) -> list[ObsT | None]:
        """The observations; `None` where a call failed."""
        return [None if row.result is None else row.result.observation for row in self._rows]

    @cached_property
    def stacked(self) -> dict[str, Any]:
        """The observations by field: an array with the batch as its leading axis.

        A field whose values differ in shape or are no numbers is a list instead. Rows that failed
        hold zeros in arrays, `None` in lists. Empty if every row failed.
        """
        return stack(self.observations)

    @cached_property
    def rewards(self) -> NDArray[np.float64]:
        """The rewards: float64 of shape `(len,)`, NaN where there is none.

        `numpy.nanmean` is the mean of those that there are.
        """
        rewards: NDArray[np.float64] = numpy().array([row.reward for row in self._rows], "float64")
        return rewards

    @cached_property
    def reward_errors(self) -> list[dict[str, Any] | None]:
        """Why a verifier gave no reward: `rubric`, `error`, `message`; `None` if none failed."""
        return [None if o is None else o.reward_error for o in self._outcomes]

    @cached_property
    def terminated(self) -> NDArray[np.bool_]:
        """Which episodes were ended by their own rules: bool of shape `(len,)`."""
        return self._flags(o is not None and o.terminated for o in self._outcomes)

    @cached_property
    def truncated(self) -> NDArray[np.bool_]:
        """Which episodes were ended by a limit: bool of shape `(len,)`."""
        return self._flags(o is not None and o.done and o.truncated for o in self._outcomes)

    @cached_property
    def done(self) -> NDArray[np.bool_]:
        """Which episodes have ended, for either reason: bool of shape `(len,)`."""
        return self._flags(o is not None and o.done for o in self._outcomes)

    @cached_property
    def valid(self) -> NDArray[np.bool_]:
        """Which rows have a result: bool of shape `(len,)`."""
        return self._flags(row.result is not None for row in self._rows)

    @cached_property
    def began(self) -> NDArray[np.bool_]:
        """Which observations are an episode's first: bool of shape `(len,)`."""
        return self._flags(row.began for row in self._rows)

    @cached_property
    def errors(self) -> list[Exception | None]:
        """Why rows failed; `None` for those that did not."""
        return [row.error for row in self._rows]

    @cached_property
    def final(self) -> list[StepResult[ObsT] | None]:
        """With same-step autoreset, the last result of an episode that this call has ended."""
        return [row.final for row in self._rows]

    @property
    def _outcomes(self) -> Iterator[StepResult[Any] | None]:
        return (row.outcome for row in self._rows)

    def _flags(self, values: Iterable[bool]) -> NDArray[np.bool_]:
        flags: NDArray[np.bool_] = numpy().fromiter(values, "bool", len(self._rows))
        return flags
