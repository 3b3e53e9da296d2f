"""Rubrics made of rubrics."""

from __future__ import annotations

import math
from collections.abc import (
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from typing import Any, NoReturn, cast, overload

from openenv._flow import Flow
from openenv.rubrics.base import CHILDREN, FlowRubric, Rubric
from openenv.rubrics.settling import Effect

TOLERANCE = 1e-6
"""How far a sum of weights may be from 1."""

_NO_SCORE = (
    "{0} has no score of its own: hold it in a rubric whose forward() says what becomes of the "
    "scores in it"
)


_NUMBERED = "rubric_"


class _Numbered(Rubric):
    """Children in a row, called `rubric_0`, `rubric_1` and so on."""

    def _extend(self, rubrics: Iterable[Rubric]) -> None:
        for rubric in rubrics:
            setattr(self, f"{_NUMBERED}{len(self)}", checked(rubric))

    def __len__(self) -> int:
        """How many there are."""
        return len(list(iter(self)))

    def __iter__(self) -> Iterator[Rubric]:
        """They, in order."""
        return iter([each for name, each in self.named_children() if name.startswith(_NUMBERED)])

    @overload
    def __getitem__(self, index: int) -> Rubric: ...

    @overload
    def __getitem__(self, index: slice) -> list[Rubric]: ...

    def __getitem__(self, index: int | slice) -> Rubric | list[Rubric]:
        """One of them, or a list of some."""
        return list(self)[index]


class Sequential(_Numbered, FlowRubric):
    """The last of several scores, or 0 as soon as one is 0. Without any rubric it is 1.

    Those after a score of 0 are not called. Neither are those after a failure, and the sequence has
    no score either.
    """

    def __init__(self, *rubrics: Rubric) -> None:
        super().__init__()
        self._extend(rubrics)

    def flow(self, action: Any, observation: Any) -> Flow[Effect, float]:
        """The scores one after another."""
        score: float = 1.0
        for rubric in self:
            [score] = yield [rubric(action, observation)]
            if score == 0.0 or math.isnan(score):
                break
        return score


class Gate(FlowRubric):
    """A rubric's score if it reaches a threshold, else 0. If it has no score, neither has this.

    It does not gate its neighbours: in a `WeightedSum` the others' parts are paid all the same. For
    all or nothing write `Sequential(Gate(…), WeightedSum(…))`.

    Args:
        rubric: whose score passes.
        threshold: the least score that does.
    """

    EXPLAINED = ("threshold",)

    def __init__(self, rubric: Rubric, threshold: float = 1.0) -> None:
        super().__init__()
        self.rubric = checked(rubric)
        self.threshold = threshold

    def flow(self, action: Any, observation: Any) -> Flow[Effect, float]:
        """The score, if it is enough."""
        [score] = yield [self.rubric(action, observation)]
        return score if score >= self.threshold else 0.0


class WeightedSum(_Numbered, FlowRubric):
    """The sum of all scores, each times its weight. All are called, async ones in parallel.

    If one has no score, neither has the sum, whatever its weight.

    Args:
        rubrics: whose scores are added.
        weights: one for each, which add up to 1.

    Raises:
        ValueError: there are more or fewer weights, or their sum is another.
    """

    EXPLAINED = ("weights",)

    def __init__(self, rubrics: Sequence[Rubric], weights: Sequence[float]) -> None:
        super().__init__()
        if len(rubrics) != len(weights):
            raise ValueError(
                f"Number of rubrics ({len(rubrics)}) must match number of weights ({len(weights)})"
            )
        if not abs(math.fsum(weights) - 1.0) <= TOLERANCE:
            raise ValueError(f"Weights must sum to 1.0, got {math.fsum(weights)}")
        self._weights = list(weights)
        self._extend(rubrics)

    @property
    def weights(self) -> list[float]:
        """The weights, in the rubrics' order; a copy."""
        return list(self._weights)

    def flow(self, action: Any, observation: Any) -> Flow[Effect, float]:
        """All scores at a time."""
        scores = yield [rubric(action, observation) for rubric in self]
        return math.fsum([w * score for w, score in zip(self._weights, scores, strict=True)])


class RubricList(_Numbered):
    """A list of rubrics, for a parent that says what becomes of their scores."""

    def __init__(self, rubrics: Iterable[Rubric] | None = None) -> None:
        super().__init__()
        self.extend(rubrics or ())

    def append(self, rubric: Rubric) -> None:
        """Adds one at the end."""
        self._extend([rubric])

    def extend(self, rubrics: Iterable[Rubric]) -> None:
        """Adds several at the end."""
        self._extend(rubrics)

    def __call__(self, action: Any, observation: Any) -> NoReturn:
        """Refused, as `forward`."""
        self.forward(action, observation)

    def forward(self, action: Any, observation: Any) -> NoReturn:
        """Refused.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(_NO_SCORE.format(type(self).__name__))


class RubricDict(Rubric):
    """Rubrics by name, for a parent that says what becomes of their scores.

    Any text without a dot is a name. Those that are no attributes of the class can be read as
    attributes, too.
    """

    def __init__(self, rubrics: Mapping[str, Rubric] | None = None) -> None:
        super().__init__()
        self.update(rubrics or {})

    def __call__(self, action: Any, observation: Any) -> NoReturn:
        """Refused, as `forward`."""
        self.forward(action, observation)

    def forward(self, action: Any, observation: Any) -> NoReturn:
        """Refused.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(_NO_SCORE.format(type(self).__name__))

    def __setitem__(self, name: str, rubric: Rubric) -> None:
        """Sets the rubric of a name.

        Raises:
            ValueError: the name is no text, or has a dot; or the rubric holds this one.
            TypeError: it is no rubric.
        """
        if not isinstance(name, str) or not name or "." in name:
            raise ValueError(f"a rubric's name is a text without a dot, got {name!r}")
        self._register(name, checked(rubric))

    def __getitem__(self, name: str) -> Rubric:
        """The rubric of a name.

        Raises:
            KeyError: there is none.
        """
        return self._registered()[name]

    def __delitem__(self, name: str) -> None:
        """Takes a rubric out."""
        del self._registered()[name]

    def __getattr__(self, name: str) -> Rubric:
        """The rubric of a name that is no attribute."""
        found = self.__dict__.get(CHILDREN, {}).get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return cast(Rubric, found)

    def __contains__(self, name: object) -> bool:
        """Whether there is a rubric of that name."""
        return name in self._registered()

    def __len__(self) -> int:
        """How many there are."""
        return len(self._registered())

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._registered())

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._registered().keys()

    def values(self) -> ValuesView[Rubric]:
        """The rubrics."""
        return self._registered().values()

    def items(self) -> ItemsView[str, Rubric]:
        """Both."""
        return self._registered().items()

    def update(self, rubrics: Mapping[str, Rubric]) -> None:
        """Sets several."""
        for name, rubric in rubrics.items():
            self[name] = rubric


def checked(rubric: object) -> Rubric:
    """A rubric.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(rubric, Rubric):
        raise TypeError(f"expected a Rubric, got {type(rubric).__name__}")
    return rubric
