"""DockerSwarmProvider: replicated servers on the nodes of a Docker Swarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from openenv.protocol.errors import NotAvailable, ProviderError
from openenv.providers import leftovers, owner
from openenv.providers.container_options import CONTAINER_PORT, variables, words
from openenv.providers.engine import Engine
from openenv.providers.launch import Launch, refuse_fields, refuse_unknown
from openenv.providers.peer import ContainerStarter
from openenv.providers.provider import Running, unless_failed
from openenv.providers.swarm_service import SwarmService

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class SwarmOptions:
    """The options of `DockerSwarmProvider`.

    Attributes:
        replicas: how many servers.
        cpu_limit: processors of each, over `Resources.cpus`.
        memory_limit: of each, over `Resources.memory`.
        constraints: on which nodes, for example `["node.role==worker"]`.
        labels: of the service.
        command: in place of the image's.
        endpoint_mode: `"ingress"` is one port on every node, behind which the replicas take turns
            (a session stays with its connection); it needs IPVS in the kernel. `"dnsrr"` gives each
            replica a port on its own node.
        container_port: what the servers listen on.
    """

    replicas: int = 2
    cpu_limit: str | float | None = None
    memory_limit: str | None = None
    constraints: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    command: str | Sequence[str] = ()
    endpoint_mode: Literal["ingress", "dnsrr"] = "ingress"
    container_port: int = CONTAINER_PORT

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> SwarmOptions:
        """The options of these names.

        Raises:
            UnknownOption: there is no such option (a `ValueError`).
            ProviderError: one has no such value.
        """
        refuse_unknown(options, tuple(f.name for f in fields(cls)), "DockerSwarmProvider")
        chosen = cls(**options)
        if chosen.endpoint_mode not in ("ingress", "dnsrr"):
            raise ProviderError(f"endpoint_mode is ingress or dnsrr, got {chosen.endpoint_mode!r}")
        if chosen.replicas < 1:
            raise ProviderError(f"replicas must be 1 or more, got {chosen.replicas}")
        return chosen

    def publishing(self, port: int | None) -> list[str]:
        """The arguments that make the servers reachable."""
        chosen = "" if port is None else f"published={port},"
        target = f"{chosen}target={self.container_port}"
        if self.endpoint_mode == "ingress":
            return [f"--publish={target},mode=ingress"]
        return ["--endpoint-mode=dnsrr", f"--publish={target},mode=host"]


class DockerSwarmProvider(ContainerStarter):
    """Servers as a service of a Docker Swarm, which keeps the number of its replicas.

    Swarm publishes ports on every address of a node: keep the nodes behind a firewall. Options:
    `SwarmOptions`.

    Args:
        auto_init_swarm: make this engine a swarm of one node if it is in none. `close` undoes it.
        overlay_network: that the servers join; it must exist.

    Raises:
        NotAvailable: Docker does not answer, or is no manager of a swarm.
    """

    def __init__(self, *, auto_init_swarm: bool = True, overlay_network: str | None = None) -> None:
        self._engine = Engine("docker")
        self._engine.ping()
        self._network = overlay_network
        self._made_swarm = False
        self._join(auto_init_swarm)
        if overlay_network and self._engine.inspect("network", overlay_network) is None:
            self.close()
            raise NotAvailable(
                f"there is no network {overlay_network}; "
                f"`docker network create --driver overlay --attachable {overlay_network}` makes one"
            )

    def begin(self, launch: Launch) -> Running:
        """Creates a service, and waits until its address is known; see `ContainerStarter`."""
        if not launch.image:
            raise ProviderError(f"a service needs an image, got {launch.image!r}")
        refuse_fields(launch, ("project", "app"), "DockerSwarmProvider")
        options = SwarmOptions.of(launch.options)
        self.reap()
        service = SwarmService(self._engine, launch.image, options.replicas, options.endpoint_mode)
        with unless_failed(service):
            self._create(service, launch, options)
            service.find_address(launch.ready_timeout_s)
        return service

    def reap(self) -> list[str]:
        """Removes the services whose owner is dead; their ids."""
        return leftovers.reap(self._engine, "service")

    def close(self) -> None:
        """Stops the service, and leaves the swarm if this object made it and it is empty."""
        super().close()
        if self._made_swarm and not self._engine.call("service", "ls", "--quiet").stdout.strip():
            self._engine.call("swarm", "leave", "--force")
            # It came with the swarm, and stays behind.
            self._engine.call("network", "rm", "docker_gwbridge", check=False)
            self._made_swarm = False

    def _join(self, auto_init: bool) -> None:
        swarm = self._engine.swarm()
        if swarm.get("LocalNodeState") == "inactive":
            if not auto_init:
                raise NotAvailable(
                    "this engine is in no swarm; `docker swarm init` makes one, or leave "
                    "auto_init_swarm on"
                )
            self._engine.call(
                *("swarm", "init", f"--advertise-addr={LOOPBACK}", f"--listen-addr={LOOPBACK}:2377")
            )
            self._made_swarm = True
        elif not swarm.get("ControlAvailable"):
            raise NotAvailable(
                f"this engine manages no swarm (its state in one: {swarm.get('LocalNodeState')}); "
                "use a manager's engine: DOCKER_HOST"
            )

    def _create(self, service: SwarmService, launch: Launch, options: SwarmOptions) -> None:
        arguments, passed = variables(launch.env_vars)
        labels = {**options.labels, **owner.labels()}
        self._engine.call(
            *("service", "create", "--detach", "--quiet", f"--name={service.name}", "--init"),
            *(f"--replicas={options.replicas}", "--cap-drop=ALL", "--stop-grace-period=5s"),
            *("--restart-delay=1s", *options.publishing(launch.port)),
            *([f"--network={self._network}"] if self._network else []),
            *_limits(launch, options),
            *(f"--constraint={constraint}" for constraint in options.constraints),
            *(f"--label={name}={value}" for name, value in labels.items()),
            *arguments,
            launch.image or "",
            *words(options.command),
            env=passed,
            finish_s=60.0,
        )


def _limits(launch: Launch, options: SwarmOptions) -> list[str]:
    wanted = {
        "--limit-memory": options.memory_limit or launch.resources.memory,
        "--limit-cpu": options.cpu_limit or launch.resources.cpus,
        "--limit-pids": launch.resources.pids,
    }
    return [f"{option}={value}" for option, value in wanted.items() if value is not None]
