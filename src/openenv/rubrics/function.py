"""Any callable as a rubric."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openenv.rubrics.base import Rubric


class FunctionRubric(Rubric):
    """A function of an action and an observation, by the name that it has.

    Args:
        function: gives the score, or something to await for it.
    """

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def forward(self, action: Any, observation: Any) -> Any:
        """What the function gives."""
        return self.function(action, observation)

    def _title(self) -> str:
        return getattr(self.function, "__name__", None) or type(self.function).__name__


def as_rubric(scorer: Callable[[Any, Any], Any]) -> Rubric:
    """The rubric, or any other callable as one."""
    return scorer if isinstance(scorer, Rubric) else FunctionRubric(scorer)
