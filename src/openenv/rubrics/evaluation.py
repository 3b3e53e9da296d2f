"""Which rubric calls which: how a failure finds its name, and a score its parts."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Generator, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openenv.protocol.saying import authors_traceback, said
from openenv.rubrics.containment import ENDINGS, contained, ended, is_ctrl_c
from openenv.rubrics.score import Failure, Score
from openenv.rubrics.settling import Pending, give_up, is_pending
from openenv.rubrics.stray import count, since, strays

if TYPE_CHECKING:
    from openenv.rubrics.base import Rubric

logger = logging.getLogger("openenv.rubrics")

_UNSETTLED = (
    "it was called, and then cancelled or not awaited: to go on without it, give it a timeout_s, "
    "await it, and say or_else(...)"
)

_open: ContextVar[Trace | None] = ContextVar("openenv_rubric_trace", default=None)


class Trace:
    """The rubrics that are called in a `with` block of it, in their order.

    The block is its own task and those that are begun in it, and `asyncio.to_thread`. What was
    called in other threads meanwhile is adopted in the end.
    """

    def __init__(self) -> None:
        self.calls: list[Evaluation] = []
        self._begun = count.begun

    def __enter__(self) -> None:
        self._token = _open.set(self)

    def __exit__(self, *_: object) -> None:
        _open.reset(self._token)

    def has_strays(self) -> bool:
        """Whether any rubric was called meanwhile of which nobody knows who did."""
        return self._begun != count.begun

    def adopt(self, rubrics: Iterable[Rubric], by: int | None = None) -> None:
        """Takes the calls of those rubrics that strayed since it began for its own.

        What one of the rubrics has adopted stays that one's. Of two that call the same rubric at
        the same time, both adopt it.

        Args:
            rubrics: those it may have called.
            by: the id of the rubric that adopts.
        """
        begun, self._begun = self._begun, count.begun
        among = list(rubrics)
        ids = {id(rubric) for rubric in among}
        for call in since(begun, among):
            if ids.isdisjoint(call.adopters):
                self.calls.append(call)
                call.adopters = (*call.adopters, by)

    def verdict(self) -> Score | None:
        """The first score that is not valid, else the last; `None` if no rubric was called."""
        scores = [call.score if call.score is not None else call.unsettled() for call in self.calls]
        failed = (score for score in scores if score.counts_as_failed)
        return next(failed, scores[-1] if scores else None)


class Evaluation(Trace):
    """One call of a rubric, known to the trace that it happens in."""

    adopters: tuple[int | None, ...] = ()

    def __init__(self, rubric: Rubric) -> None:
        self.calls = []
        self.score: Score | None = None
        self._rubric = rubric
        self._kind = rubric._title()
        outer = _open.get()
        if outer is not None:
            outer.calls.append(self)
        else:
            strays(rubric, self)
        self._begun = count.begun

    def begin(self, action: Any, observation: Any) -> Score | Limited:
        """Calls the rubric's own `forward`: its score, or what is to be awaited for it."""
        token = _open.set(self)  # not by `with`: every call of every rubric takes this way
        try:
            result = self._rubric.forward(action, observation)
        except Exception as error:  # noqa: BLE001  # it is why there is no score
            return self.failed(error)
        except ENDINGS as end:
            if is_ctrl_c(end):
                raise
            return self.failed(ended(end))
        finally:
            _open.reset(token)
        return Limited(self, result) if is_pending(result) else self.given(result)

    def given(self, result: object) -> Score:
        """The score that a result of `forward` is, valid if it is a finite number."""
        if self._begun != count.begun:
            self.adopt(self._rubric.rubrics(), id(self._rubric))
        blamed = self._blamed(unsettled=True) if self.calls else None
        if isinstance(result, Score) and result.failure is not None:
            own = Failure((), self._kind, result.failure.error, result.failure.message)
            return self._made(math.nan, blamed or own)
        try:
            value = number(result)
        except Exception as error:  # noqa: BLE001  # its class may be the author's
            return self.failed(error)
        return self._made(value, blamed)

    def failed(self, error: Exception) -> Score:
        """The score after an exception. It is the child's failure, if one of them has failed."""
        self.adopt(self._rubric.rubrics(), id(self._rubric))
        blamed = self._blamed()
        if blamed is None:
            logger.warning("%s gave no score\n%s", self._kind, authors_traceback(error).rstrip())
            blamed = Failure((), self._kind, type(error).__name__, said(error))
        return self._made(math.nan, blamed)

    def _made(self, value: float, failure: Failure | None) -> Score:
        self.score = score = Score.of(self._kind, value, failure)
        if self._rubric.EXPLAINED:
            explained = self._rubric.EXPLAINED
            score.details = {name: getattr(self._rubric, name, None) for name in explained}
        if self.calls:
            score.children = self._children()
        return score

    def unsettled(self) -> Score:
        """The score of a call that whoever made it has not waited for."""
        return Score(rubric=self._kind, failure=Failure((), self._kind, "Unsettled", _UNSETTLED))

    def _blamed(self, *, unsettled: bool = False) -> Failure | None:
        """The failure of the first child that has no score, seen from here.

        Args:
            unsettled: also of one that was called, and has not ended.
        """
        for call in self.calls:
            score = call.score
            if score is None and unsettled:
                score = call.unsettled()
            if score is not None and score.failure is not None and score.counts_as_failed:
                return score.failure.below(self._names().get(id(call._rubric), call._kind))
        return None

    def _children(self) -> dict[str, Score]:
        """The scores of its children by name; a second one of the same name is `name#2`."""
        names = self._names()
        found: dict[str, Score] = {}
        for call in self.calls:
            if call.score is None:
                continue
            name = unique = names.get(id(call._rubric), call._kind)
            time = 1
            while unique in found:
                time += 1
                unique = f"{name}#{time}"
            found[unique] = call.score
        return found

    def _names(self) -> dict[int, str]:
        """The paths of the rubrics that were called: children, or those that a child holds."""
        names = {id(child): name for name, child in self._rubric.named_children()}
        for call in self.calls:
            if id(call._rubric) not in names:
                paths = {id(rubric): path for path, rubric in self._rubric.named_rubrics()}
                return {**paths, **names}
        return names

    async def within_limit(self, pending: Awaitable[object]) -> object:
        """What an async `forward` gives.

        Raises:
            TimeoutError: the rubric's time is up.
        """
        limit = self._rubric.timeout_s
        with self:
            try:
                return await asyncio.wait_for(contained(pending), limit)
            except asyncio.TimeoutError as error:
                if error.args:  # the rubric's own
                    raise
                raise TimeoutError(f"no score within {limit:g} s") from None


@dataclass(frozen=True)
class Limited(Pending):
    """Awaits what an async `forward` gave; nothing is begun before."""

    evaluation: Evaluation
    pending: Awaitable[object]

    def __await__(self) -> Generator[Any, Any, object]:
        """Its value."""
        return self.evaluation.within_limit(self.pending).__await__()

    def close(self) -> None:
        """Gives up what `forward` gave."""
        give_up(self.pending)


def number(result: object) -> float:
    """A rubric's result as a float.

    Raises:
        TypeError: it is no number.
        ValueError: it is not finite.
    """
    if type(result) is float and math.isfinite(result):
        return result
    if not hasattr(type(result), "__float__") and not hasattr(type(result), "__index__"):
        advice = "; is a `return` missing?" if result is None else ""
        raise TypeError(f"a score is a number, got {type(result).__name__}{advice}")
    value = float(result)  # type: ignore[arg-type]  # its class says that it can be one
    if not math.isfinite(value):
        raise ValueError(f"a score is a finite number, got {value}")
    return value
