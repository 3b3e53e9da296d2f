"""Calls of rubrics in threads of an author's own, which no trace has seen begin."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openenv.rubrics.base import Rubric
    from openenv.rubrics.evaluation import Evaluation

_STRAYS = "_rubric_strays"
_KEPT = 64

_counting = threading.Lock()


class _Count:
    """How many calls there were of which nobody knows who made them."""

    begun = 0


count = _Count()


class _Strays:
    """The last such calls of a rubric, with their numbers. A copy has none."""

    def __init__(self) -> None:
        self.calls: deque[tuple[int, Evaluation]] = deque(maxlen=_KEPT)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


def strays(rubric: Rubric, call: Evaluation) -> None:
    """Has a call kept with its rubric, for whoever turns out to have made it."""
    with _counting:
        kept = rubric.__dict__.get(_STRAYS)
        if kept is None:
            kept = rubric.__dict__[_STRAYS] = _Strays()
        count.begun += 1
        kept.calls.append((count.begun, call))


def since(begun: int, rubrics: Iterable[Rubric]) -> Iterator[Evaluation]:
    """The calls of rubrics that began after so many."""
    for rubric in rubrics:
        kept = vars(rubric).get(_STRAYS)
        if kept is not None:
            with _counting:
                calls = list(kept.calls)
            yield from (call for number, call in calls if number > begun)
