"""What a rubric is."""

from openenv.rubrics.base import Rubric

__all__ = ["Rubric"]
