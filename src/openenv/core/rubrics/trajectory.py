"""Rewards that are known when an episode ends."""

from openenv.rubrics.trajectory import ExponentialDiscountingTrajectoryRubric, TrajectoryRubric

__all__ = ["ExponentialDiscountingTrajectoryRubric", "TrajectoryRubric"]
