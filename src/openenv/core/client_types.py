"""Results of clients."""

from openenv.client.results import StepResult

__all__ = [
    "StepResult",
]
