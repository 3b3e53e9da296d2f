"""Providers, each imported when it is used."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.providers.docker import LocalDockerProvider
    from openenv.providers.kubernetes import KubernetesProvider
    from openenv.providers.peer import ContainerProvider, RuntimeProvider
    from openenv.providers.swarm import DockerSwarmProvider

__all__ = [
    "ContainerProvider",
    "DockerSwarmProvider",
    "KubernetesProvider",
    "LocalDockerProvider",
    "RuntimeProvider",
]

__getattr__ = lazy(
    __name__,
    {
        "ContainerProvider": "openenv.providers.peer",
        "DockerSwarmProvider": "openenv.providers.swarm",
        "KubernetesProvider": "openenv.providers.kubernetes",
        "LocalDockerProvider": "openenv.providers.docker",
        "RuntimeProvider": "openenv.providers.peer",
    },
)
