"""The client of any environment."""

from openenv.client.generic import GenericAction, GenericEnvClient

__all__ = [
    "GenericAction",
    "GenericEnvClient",
]
