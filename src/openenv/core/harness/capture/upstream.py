"""Sampling that a trainer can use."""

from openenv.harness.capture.upstream import training_sampling

__all__ = ["training_sampling"]
