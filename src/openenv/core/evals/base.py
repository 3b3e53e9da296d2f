"""What runs an evaluation."""

from openenv.evals.harness import EvalHarness

__all__ = ["EvalHarness"]
