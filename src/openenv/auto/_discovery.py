"""The catalog of installed environments, at the path of existing code."""

from openenv.catalog.discovery import EnvironmentDiscovery, get_discovery, reset_discovery
from openenv.catalog.installed import EnvironmentInfo

__all__ = [
    "EnvironmentDiscovery",
    "EnvironmentInfo",
    "get_discovery",
    "reset_discovery",
]
