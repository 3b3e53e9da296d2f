"""Score: what a rubric found, or why it found nothing."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from openenv.protocol.saying import said

_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Failure:
    """Why there is no score.

    Attributes:
        path: the names that lead from the rubric that was asked to the one that failed.
        kind: the failed one's class.
        error: the class of what went wrong, such as `ValueError`.
        message: what went wrong.
    """

    path: tuple[str, ...]
    kind: str
    error: str
    message: str

    @property
    def rubric(self) -> str:
        """The dotted path to the failed one, as `get_rubric` takes it; its class if it is asked."""
        return ".".join(self.path) or self.kind

    def below(self, name: str) -> Failure:
        """The same, seen from the parent that knows the rubric by that name."""
        return replace(self, path=(name, *self.path))

    def to_dict(self) -> dict[str, str]:
        """`rubric`, `error` and `message`."""
        return {"rubric": self.rubric, "error": self.error, "message": self.message}

    def __str__(self) -> str:
        """All of it in a line."""
        return f"rubric {self.rubric!r} gave no score: {self.error}: {self.message}"


class Score(float):
    """A finite number that a rubric gave; or NaN and the failure that kept it from giving one.

    It may be awaited, too, and gives itself, so that a caller need not know which rubrics are
    async.

    Attributes:
        rubric: the class of the rubric that gave it.
        failure: why there is none; `None` if it is valid.
        children: the scores of the rubrics it was made of, by name, in the order of their calls.
        details: what else explains it, such as a container's weights.
    """

    rubric: str = ""
    failure: Failure | None = None
    children: Mapping[str, Score] = _NONE
    details: Mapping[str, Any] = _NONE
    _replaced = False

    def __new__(
        cls,
        value: float = 0.0,
        *,
        rubric: str = "",
        failure: Failure | None = None,
        children: Mapping[str, Score] = _NONE,
        details: Mapping[str, Any] = _NONE,
    ) -> Score:
        """A score; without a value where there is a failure."""
        score = cls.of(rubric, value, failure)
        score.children, score.details = children, details
        return score

    @classmethod
    def of(cls, rubric: str, value: float, failure: Failure | None) -> Score:
        """A score of nothing else, in the least time; a class's own attributes say the rest."""
        score = float.__new__(cls, math.nan if failure else value)
        score.rubric = rubric
        if failure:
            score.failure = failure
        return score

    @classmethod
    def failed(cls, rubric: str, error: Exception | str) -> Score:
        """The score of a rubric that could not give one.

        Args:
            rubric: its class or name.
            error: what went wrong; a text is what a `RuntimeError` would say.
        """
        cause = RuntimeError(error) if isinstance(error, str) else error
        return cls(rubric=rubric, failure=Failure((), rubric, type(cause).__name__, said(cause)))

    @property
    def valid(self) -> bool:
        """Whether there is a score."""
        return self.failure is None

    @property
    def counts_as_failed(self) -> bool:
        """Whether whoever called the rubric has no score either."""
        return not self.valid and not self._replaced

    def or_else(self, value: float) -> float:
        """The score, or a value in its place if there is none.

        This alone keeps a failure from being the caller's, too.
        """
        self._replaced = True
        return float(self) if self.valid else value

    def explained(self) -> dict[str, Any]:
        """The score and those it was made of, as JSON takes them.

        Returns:
            `rubric` (the class), `score` (`None` where there is none), then `error` with the
            failure, the details, and `children` by name, where there are any.
        """
        tree: dict[str, Any] = {"rubric": self.rubric, "score": float(self) if self.valid else None}
        if self.failure is not None:
            tree["error"] = self.failure.to_dict()
        tree.update(self.details)
        if self.children:
            tree["children"] = {name: score.explained() for name, score in self.children.items()}
        return tree

    def __await__(self) -> Generator[None, None, Score]:
        """At once."""
        return self
        yield

    def __repr__(self) -> str:
        """The number, or the failure."""
        return float.__repr__(self) if self.valid else f"<no score: {self.failure}>"
