"""LocalDockerProvider: servers in containers of this machine's Docker or Podman."""

from __future__ import annotations

import re
import time
import uuid
from typing import Any

from openenv.protocol.errors import NotAvailable, ProviderError
from openenv.providers import leftovers, owner
from openenv.providers.command import redacted
from openenv.providers.container_options import (
    LOG_BYTES,
    ContainerOptions,
    limits,
    variables,
    words,
)
from openenv.providers.engine import CALL_S, PULL_S, Engine, EngineName
from openenv.providers.launch import Launch, refuse_fields
from openenv.providers.peer import ContainerStarter
from openenv.providers.provider import LOG_LINES, Running, unless_failed

LOOPBACK = "127.0.0.1"
GRACE_S = 5
"""How long a server may take to end by itself."""
STOP_S = 30.0
"""How long the engine may take to let it, before it is removed all the same."""
REMOVAL_S = 30.0
KILLED = 137
ATTEMPTS = 5
"""How often a port that the engine chose may turn out to be taken."""


class Container(Running):
    """A container. It has its name before it is started, so that it can always be removed."""

    def __init__(self, engine: Engine, image: str) -> None:
        self._engine = engine
        self._image = image
        self.name = f"openenv-{_slug(image)}-{uuid.uuid4().hex[:12]}"
        super().__init__()

    def start(self, launch: Launch, options: ContainerOptions) -> None:
        """Starts it and finds its port.

        Raises:
            ProviderError: it could not be started.
        """
        for attempt in range(1, ATTEMPTS + 1):
            answer = self._run(launch, options)
            if answer is None:
                break
            self._remove()
            if not _is_clash(answer):
                raise ProviderError(f"no container of {self._image}: {answer}")
            if launch.port is not None or attempt == ATTEMPTS:
                raise ProviderError(_taken(launch.port, answer))
        with self._telling_its_log():
            self.url = f"http://{LOOPBACK}:{self._published(options.container_port)}"

    def _run(self, launch: Launch, options: ContainerOptions) -> str | None:
        """`docker run`; what it said if it failed."""
        arguments, passed = variables(launch.env_vars)
        port = "" if launch.port is None else str(launch.port)
        log = "k8s-file" if self._engine.name == "podman" else "json-file"
        answer = self._engine.call(
            *("run", "--detach", f"--name={self.name}", "--init", "--pull=never"),
            f"--publish={LOOPBACK}:{port}:{options.container_port}",
            *("--security-opt=no-new-privileges", "--cap-drop=ALL"),
            *(f"--log-driver={log}", f"--log-opt=max-size={LOG_BYTES}"),
            *(f"--label={name}={value}" for name, value in owner.labels().items()),
            *limits(launch.resources),
            *options.arguments(),
            *arguments,
            self._image,
            *words(options.command),
            env=passed,
            check=False,
            finish_s=CALL_S,
        )
        if answer.code == 0:
            return None
        self._engine.ping()
        return redacted(answer.stderr.strip(), passed)

    def _published(self, container_port: int) -> int:
        ports = (self._inspect().get("NetworkSettings") or {}).get("Ports") or {}
        for binding in ports.get(f"{container_port}/tcp") or []:
            return int(binding["HostPort"])
        raise ProviderError(
            self.problem()
            or f"the engine published no port of container {self.name}; is its network internal?"
        )

    def problem(self) -> str | None:
        """Why the container cannot become healthy: it has ended or is gone."""
        state = self._inspect().get("State")
        if state is None:
            return f"container {self.name} was removed by somebody else"
        if state.get("Status") not in ("exited", "dead", "stopped"):
            return None
        if state.get("OOMKilled"):
            return (
                f"container {self.name} of {self._image} was killed because it needed more memory "
                "than it may use; give it more: Resources(memory=…), or memory=…"
            )
        code, said = state.get("ExitCode"), state.get("Error")
        why = said or ("killed, perhaps for the memory that it used" if code == KILLED else "")
        return (
            f"container {self.name} of {self._image} ended with exit code {code}"
            f"{f' ({why})' if why else ''}"
        )

    def logs(self, lines: int = LOG_LINES) -> str:
        """The last lines of what the container wrote to its standard outputs."""
        answer = self._engine.call("logs", f"--tail={lines}", self.name, check=False)
        if answer.code != 0:
            return ""
        return "\n".join([*answer.stdout.splitlines(), *answer.stderr.splitlines()][-lines:])

    def _inspect(self) -> dict[str, Any]:
        return self._engine.inspect("container", self.name) or {}

    def _end(self) -> None:
        """Gives it time to end by itself, and removes it in any case."""
        try:
            self._engine.call("stop", f"--time={GRACE_S}", self.name, timeout_s=STOP_S, check=False)
        except NotAvailable:
            raise
        except ProviderError:  # that took too long: removing is what counts
            pass
        self._remove()

    def _remove(self) -> None:
        deadline = time.monotonic() + REMOVAL_S
        while True:
            answer = self._engine.call("rm", "--force", "--volumes", self.name, check=False)
            name = f"name={self.name}"
            if not self._engine.call("ps", "--all", "--quiet", "--filter", name).stdout.strip():
                return
            if time.monotonic() > deadline:
                raise ProviderError(
                    f"container {self.name} could not be removed: {answer.stderr.strip()}; try "
                    f"`{self._engine.name} rm --force {self.name}`"
                )
            time.sleep(0.2)  # somebody else is removing it


class LocalDockerProvider(ContainerStarter):
    """Servers in containers of this machine.

    A container's port is published on 127.0.0.1 alone. It has limits (`Resources`), none of the
    kernel's capabilities, and cannot gain privileges. Its labels say who owns it, so that the next
    launch removes what a killed owner left. Options: `ContainerOptions`.

    Args:
        engine: `"docker"` or `"podman"`; by default Docker, or Podman where there is no Docker.

    Raises:
        NotAvailable: the engine is not installed, does not run, hangs, or refuses this user.
    """

    def __init__(self, *, engine: EngineName | None = None) -> None:
        self._engine = Engine(engine)
        self._engine.ping()

    def begin(self, launch: Launch) -> Running:
        """Starts a container; see `ContainerStarter`."""
        if not launch.image:
            raise ProviderError(
                f"a container needs an image, got {launch.image!r}; `openenv build` makes one"
            )
        refuse_fields(launch, ("project", "app"), "LocalDockerProvider")
        options = ContainerOptions.of(launch.options)
        self.reap()
        self._fetch(launch.image, options)
        container = Container(self._engine, launch.image)
        with unless_failed(container):
            container.start(launch, options)
        return container

    def reap(self) -> list[str]:
        """Removes the containers whose owner is dead; their ids."""
        return leftovers.reap(self._engine, "container")

    def _fetch(self, image: str, options: ContainerOptions) -> None:
        here = self._engine.inspect("image", image) is not None
        if options.pull == "always" or (options.pull == "missing" and not here):
            platform = [f"--platform={options.platform}"] if options.platform else []
            answer = self._engine.call(
                "pull", "--quiet", *platform, image, timeout_s=PULL_S, check=False
            )
            if answer.code != 0:
                raise ProviderError(_no_image(image, answer.stderr.strip()))
        elif not here:
            raise ProviderError(_no_image(image, "pull='never'"))


def _no_image(image: str, why: str) -> str:
    return (
        f"image {image} is not on this machine and could not be fetched ({why}); build it with "
        f"`openenv build --tag {image}` in its project, or check its name"
    )


def _is_clash(said: str) -> bool:
    return any(
        sign in said.lower()
        for sign in ("port is already allocated", "address already in use", "ports are not avail")
    )


def _taken(port: int | None, said: str) -> str:
    if port is None:
        return f"every port that the engine chose was taken, {ATTEMPTS} times: {said}"
    return (
        f"port {port} of this machine is taken; give another one, or none to have a free one chosen"
    )


def _slug(image: str) -> str:
    """The part of an image's name that people know: `example.org/me/Echo:1` is `echo`."""
    name = image.rpartition("/")[2].partition("@")[0].partition(":")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-").removeprefix("openenv-")[:40] or "env"
