"""ProcessProvider: servers in processes of this machine, with this Python."""

from __future__ import annotations

import sys

from openenv.protocol.errors import ProviderError
from openenv.providers.launch import Launch, Resources, refuse_unknown
from openenv.providers.provider import Provider, Running, unless_failed, when_healthy
from openenv.providers.server_process import LOOPBACK, ServerProcess

OPTIONS = ("host_kind", "max_sessions")


class ProcessProvider(Provider):
    """Runs `openenv serve` in a process, on 127.0.0.1.

    It isolates nothing but what the host kind does. The server gets none of our variables that look
    like credentials. It ends when this process does, also by `kill -9`.

    What `Launch` says: `project` is what `openenv serve` takes, and `app` is served in that
    directory if it is given. Options: `host_kind`, `max_sessions`, as of `openenv serve`.
    """

    def launch(self, launch: Launch) -> Running:
        """Starts a server and waits until it is healthy; see `Provider`."""
        refuse_unknown(launch.options, OPTIONS, "ProcessProvider")
        server = ServerProcess(f"the server of {launch.project}")
        with unless_failed(server):
            server.start(_command(launch), launch.env_vars, launch.project if launch.app else None)
        return when_healthy(server, launch.ready_timeout_s)


def _command(launch: Launch) -> list[str]:
    if launch.image is not None or launch.project is None:
        raise ProviderError(
            f"ProcessProvider serves a project, got image={launch.image!r} and "
            f"project={launch.project!r}; LocalDockerProvider runs images"
        )
    refuse_limits(launch.resources, "ProcessProvider")
    command = [sys.executable, "-m", "openenv", "serve", launch.app or str(launch.project)]
    command += ["--host", LOOPBACK, "--port", str(launch.port or 0)]
    for name, value in launch.options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    return command


def refuse_limits(resources: Resources, provider: str) -> None:
    """A limit that was asked for and is not there would be worse than none.

    Raises:
        ProviderError: the resources are not the default ones.
    """
    if resources != Resources():
        raise ProviderError(
            f"{provider} cannot limit a process to {resources}; use host_kind='sandbox' in the "
            "environment, or LocalDockerProvider"
        )
