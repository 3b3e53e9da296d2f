"""Rubrics: rewards that say how they came about, and when there is none."""

from openenv.rubrics.base import FlowRubric, Rubric
from openenv.rubrics.containers import Gate, RubricDict, RubricList, Sequential, WeightedSum
from openenv.rubrics.judge import LLMJudge
from openenv.rubrics.score import Failure, Score
from openenv.rubrics.trajectory import ExponentialDiscountingTrajectoryRubric, TrajectoryRubric

__all__ = [
    "ExponentialDiscountingTrajectoryRubric",
    "Failure",
    "FlowRubric",
    "Gate",
    "LLMJudge",
    "Rubric",
    "RubricDict",
    "RubricList",
    "Score",
    "Sequential",
    "TrajectoryRubric",
    "WeightedSum",
]
