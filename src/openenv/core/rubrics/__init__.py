"""Rubrics by their published names."""

from openenv.rubrics.base import Rubric
from openenv.rubrics.containers import Gate, RubricDict, RubricList, Sequential, WeightedSum
from openenv.rubrics.judge import LLMJudge
from openenv.rubrics.trajectory import ExponentialDiscountingTrajectoryRubric, TrajectoryRubric

__all__ = [
    "ExponentialDiscountingTrajectoryRubric",
    "Gate",
    "LLMJudge",
    "Rubric",
    "RubricDict",
    "RubricList",
    "Sequential",
    "TrajectoryRubric",
    "WeightedSum",
]
