"""Copies of rubrics that have seen nothing of an episode."""

from __future__ import annotations

import copy
from typing import Any

from openenv.rubrics.base import Rubric
from openenv.rubrics.trajectory import TrajectoryRubric

_TRIES = 10
"""How often a rubric is copied that a session changes meanwhile."""


def keeping(rubric: object) -> list[Any]:
    """Those of a rubric and all below it that keep something of an episode: they have a reset."""
    return [one for one in _tree(rubric) if _forgets(one)]


def copied(rubric: Any) -> dict[int, Any]:
    """Copies of a rubric and of those below it, by the ids of the originals.

    What keeps nothing, nor holds what does, is shared, with all that it has. So are hooks.
    """
    for _ in range(_TRIES - 1):
        try:
            return _copied(rubric)
        except RuntimeError:  # a dict has changed its size
            continue
    return _copied(rubric)


def _copied(rubric: Any) -> dict[int, Any]:
    memo: dict[int, Any] = {}
    for one in _tree(rubric):
        memo.update(_not_copied(one) if keeping(one) else {id(one): one})
    made = memo[id(rubric)] = copy.deepcopy(rubric, memo)
    if hasattr(made, "reset"):
        made.reset()
    return {id(one): memo[id(one)] for one in _tree(rubric) if id(one) in memo}


def _not_copied(rubric: Any) -> dict[int, Any]:
    """What stands in a copy for what a rubric has: its own hooks, no last score, and no steps."""
    if not isinstance(rubric, Rubric):
        return {}
    hooks = (rubric._forward_hooks, rubric._forward_pre_hooks)
    memo: dict[int, Any] = {id(each): each for each in hooks}
    if rubric.last_score is not None:
        memo[id(rubric.last_score)] = None
    if isinstance(rubric, TrajectoryRubric):
        memo[id(rubric._trajectory)] = []
    return memo


def _tree(rubric: object) -> list[Any]:
    return [rubric, *rubric.rubrics()] if isinstance(rubric, Rubric) else [rubric]


def _forgets(rubric: object) -> bool:
    if isinstance(rubric, Rubric):
        own = type(rubric)
        return own.reset is not Rubric.reset or own.reset_async is not Rubric.reset_async
    keeps = hasattr(rubric, "reset") or hasattr(rubric, "reset_async")
    return keeps and hasattr(rubric, "__dict__") and not isinstance(rubric, type)
