"""Places where servers can be started: this machine, a container engine, a cluster."""

from typing import TYPE_CHECKING

from openenv._lazy import lazy

if TYPE_CHECKING:
    from openenv.providers.docker import LocalDockerProvider
    from openenv.providers.kubernetes import KubernetesProvider
    from openenv.providers.launch import Launch, Resources
    from openenv.providers.peer import ContainerProvider, RuntimeProvider, as_provider
    from openenv.providers.process import ProcessProvider
    from openenv.providers.provider import Provider, Running
    from openenv.providers.swarm import DockerSwarmProvider
    from openenv.providers.uv import UVProvider

__all__ = [
    "ContainerProvider",
    "DockerSwarmProvider",
    "KubernetesProvider",
    "Launch",
    "LocalDockerProvider",
    "ProcessProvider",
    "Provider",
    "Resources",
    "Running",
    "RuntimeProvider",
    "UVProvider",
    "as_provider",
]

__getattr__ = lazy(
    __name__,
    {
        "ContainerProvider": "openenv.providers.peer",
        "DockerSwarmProvider": "openenv.providers.swarm",
        "KubernetesProvider": "openenv.providers.kubernetes",
        "Launch": "openenv.providers.launch",
        "LocalDockerProvider": "openenv.providers.docker",
        "ProcessProvider": "openenv.providers.process",
        "Provider": "openenv.providers.provider",
        "Resources": "openenv.providers.launch",
        "Running": "openenv.providers.provider",
        "RuntimeProvider": "openenv.providers.peer",
        "UVProvider": "openenv.providers.uv",
        "as_provider": "openenv.providers.peer",
    },
)
