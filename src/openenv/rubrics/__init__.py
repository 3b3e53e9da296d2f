"""Rubrics: rewards that say how they came about, and when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.rubrics.base import FlowRubric as FlowRubric
    from openenv.rubrics.base import Rubric as Rubric
    from openenv.rubrics.containers import Gate as Gate
    from openenv.rubrics.containers import RubricDict as RubricDict
    from openenv.rubrics.containers import RubricList as RubricList
    from openenv.rubrics.containers import Sequential as Sequential
    from openenv.rubrics.containers import WeightedSum as WeightedSum
    from openenv.rubrics.judge import LLMJudge as LLMJudge
    from openenv.rubrics.score import Failure as Failure
    from openenv.rubrics.score import Score as Score
    from openenv.rubrics.trajectory import (
        ExponentialDiscountingTrajectoryRubric as ExponentialDiscountingTrajectoryRubric,
    )
    from openenv.rubrics.trajectory import TrajectoryRubric as TrajectoryRubric

_HOMES = {
    "ExponentialDiscountingTrajectoryRubric": "openenv.rubrics.trajectory",
    "Failure": "openenv.rubrics.score",
    "FlowRubric": "openenv.rubrics.base",
    "Gate": "openenv.rubrics.containers",
    "LLMJudge": "openenv.rubrics.judge",
    "Rubric": "openenv.rubrics.base",
    "RubricDict": "openenv.rubrics.containers",
    "RubricList": "openenv.rubrics.containers",
    "Score": "openenv.rubrics.score",
    "Sequential": "openenv.rubrics.containers",
    "TrajectoryRubric": "openenv.rubrics.trajectory",
    "WeightedSum": "openenv.rubrics.containers",
}

__all__ = list(_HOMES)

__getattr__ = lazy(__name__, _HOMES)
