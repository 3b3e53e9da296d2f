"""Evaluations."""

from openenv.evals.harness import EvalHarness
from openenv.evals.inspect_harness import InspectAIHarness
from openenv.evals.models import EvalConfig, EvalResult

__all__ = ["EvalConfig", "EvalHarness", "EvalResult", "InspectAIHarness"]
