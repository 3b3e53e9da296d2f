"""The client."""

from openenv.client.env_client import EnvClient
from openenv.client.results import StepResult

__all__ = [
    "EnvClient",
    "StepResult",
]
