"""What a container may do, as arguments of `docker run`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from openenv.protocol.errors import ProviderError
from openenv.providers.launch import Resources, refuse_unknown

CONTAINER_PORT = 8000
LOG_BYTES = "10m"
"""How much of a container's log the engine keeps."""

_READ_BY_ENGINE = re.compile(
    r"(PATH|HOME|TMPDIR|LD_.*|DOCKER_.*|CONTAINER.*|PODMAN_.*|BUILDAH_.*|XDG_.*|SSL_.*|DBUS_.*"
    r"|.*_PROXY|GO(DEBUG|GC|MAXPROCS|MEMLIMIT|TRACEBACK|RACE|COVERDIR|ROOT))",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class ContainerOptions:
    """The options of `LocalDockerProvider`.

    Attributes:
        container_port: what the server listens on in the container.
        read_only: nothing can be written but `/tmp`, which is in memory.
        user: that the server runs as, for example `"65534:65534"`; the image's by default.
        network: a network of the engine; the default one by default.
        volumes: what of this machine is seen where, for example `{"/srv/sets": "/sets:ro"}`.
        command: in place of the image's.
        runtime: of the engine, for example `"runsc"` of gVisor.
        gpus: as Docker takes it, for example `"all"`.
        platform: for example `"linux/amd64"`.
        cap_add: capabilities that are left, of none.
        pull: when the image is fetched: if it is missing, always or never.
    """

    container_port: int = CONTAINER_PORT
    read_only: bool = False
    user: str | None = None
    network: str | None = None
    volumes: Mapping[str, str] = field(default_factory=dict)
    command: str | Sequence[str] = ()
    runtime: str | None = None
    gpus: str | None = None
    platform: str | None = None
    cap_add: Sequence[str] = ()
    pull: Literal["missing", "always", "never"] = "missing"

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ContainerOptions:
        """The options of these names.

        Raises:
            ProviderError: one is unknown, or they exclude each other.
        """
        refuse_unknown(options, tuple(f.name for f in fields(cls)), "LocalDockerProvider")
        chosen = cls(**options)
        if chosen.network in ("none", "host"):
            raise ProviderError(
                f"network={chosen.network!r} publishes no port, so nobody could reach the server; "
                "leave it out: the port is published on this machine's loopback alone"
            )
        if not isinstance(chosen.volumes, Mapping):
            raise ProviderError(
                f'volumes are like {{"/here": "/there:ro"}}, got {chosen.volumes!r}'
            )
        if chosen.pull not in ("missing", "always", "never"):
            raise ProviderError(f"pull is missing, always or never, got {chosen.pull!r}")
        return chosen

    def arguments(self) -> list[str]:
        """Of `docker run`, without image and command."""
        named = {
            "--user": self.user,
            "--network": self.network,
            "--runtime": self.runtime,
            "--gpus": self.gpus,
            "--platform": self.platform,
        }
        return [
            *(f"{option}={value}" for option, value in named.items() if value is not None),
            *(["--read-only", "--tmpfs=/tmp"] if self.read_only else []),
            *(f"--volume={here}:{there}" for here, there in self.volumes.items()),
            *(f"--cap-add={capability}" for capability in self.cap_add),
        ]


def words(command: str | Sequence[str]) -> list[str]:
    """A command's words, as a shell would tell them apart if it is one string."""
    return shlex.split(command) if isinstance(command, str) else list(command)


def limits(resources: Resources) -> list[str]:
    """The arguments that keep a container within its share of the machine."""
    memory = resources.memory
    return [
        *([f"--memory={memory}", f"--memory-swap={memory}"] if memory is not None else []),
        *([f"--cpus={resources.cpus:g}"] if resources.cpus is not None else []),
        *([f"--pids-limit={resources.pids}"] if resources.pids is not None else []),
    ]


def variables(env_vars: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Arguments that set variables in a container, and the variables that the engine's tool needs.

    Values travel in the tool's own environment, since any user of the machine can read its
    arguments. Those of names that the tool itself heeds cannot.
    """
    passed = {n: str(v) for n, v in env_vars.items() if not _READ_BY_ENGINE.fullmatch(n)}
    spelled = [f"--env={n}={v}" for n, v in env_vars.items() if n not in passed]
    return [*spelled, *(f"--env={name}" for name in passed)], passed
