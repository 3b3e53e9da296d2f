"""The judge by its published name."""

from openenv.rubrics.judge import LLMJudge

__all__ = ["LLMJudge"]
