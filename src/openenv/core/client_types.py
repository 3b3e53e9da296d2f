"""Results of clients."""

from openenv.client.codec import ObsT, StateT
from openenv.client.results import StepResult

__all__ = [
    "ObsT",
    "StateT",
    "StepResult",
]
