"""The blocking client."""

from openenv.client.sync_client import SyncEnvClient

__all__ = [
    "SyncEnvClient",
]
