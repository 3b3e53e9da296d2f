"""Evaluations run by Inspect AI."""

from openenv.evals.inspect_harness import InspectAIHarness

__all__ = ["InspectAIHarness"]
