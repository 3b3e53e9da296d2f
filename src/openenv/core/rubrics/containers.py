"""Rubrics made of rubrics."""

from openenv.rubrics.containers import Gate, RubricDict, RubricList, Sequential, WeightedSum

__all__ = ["Gate", "RubricDict", "RubricList", "Sequential", "WeightedSum"]
