"""EnvironmentDiscovery: the catalog of installed environments, as older code asks for it."""

from __future__ import annotations

from openenv.catalog.auto import AutoEnv
from openenv.catalog.installed import EnvironmentInfo, installed, key_of


class EnvironmentDiscovery:
    """Finds the environments that are installed here; it remembers nothing, so nothing is stale."""

    def discover(self, use_cache: bool = True) -> dict[str, EnvironmentInfo]:
        """All of them, by key. There is no cache to use."""
        return installed()

    def get_environment(self, env_key: str) -> EnvironmentInfo | None:
        """The one with that key; `None` if there is none."""
        return installed().get(env_key)

    def get_environment_by_name(self, name: str) -> EnvironmentInfo | None:
        """The one that is called that in any spelling; `None` if there is none."""
        return installed().get(key_of(name))

    def list_environments(self) -> None:
        """Prints them."""
        AutoEnv.list_environments()

    def clear_cache(self) -> None:
        """Does nothing: there is none."""


_DISCOVERY = EnvironmentDiscovery()


def get_discovery() -> EnvironmentDiscovery:
    """The one that everybody shares."""
    return _DISCOVERY


def reset_discovery() -> None:
    """Does nothing: nothing is remembered."""
