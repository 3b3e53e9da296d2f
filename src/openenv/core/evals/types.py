"""What is evaluated, and what came of it."""

from openenv.evals.models import EvalConfig, EvalResult

__all__ = ["EvalConfig", "EvalResult"]
