"""Engine: the command line of Docker or Podman, every call bounded and every failure typed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from openenv.protocol.errors import NotAvailable, NotReady, ProviderError
from openenv.providers import owner
from openenv.providers.command import Completed, failure, run

EngineName = Literal["docker", "podman"]

PING_S = 15.0
CALL_S = 60.0
"""The longest that the engine may take over anything but fetching an image."""
PULL_S = 1800.0

_ADVICE = {
    "permission denied": "your user may not use its socket: join the group `docker`, or use a "
    "rootless engine",
    "cannot connect": "its daemon does not run, or DOCKER_HOST names another one: start it, for "
    "example with `systemctl start docker`",
    "is the docker daemon running": "its daemon does not run: start it, for example with "
    "`systemctl start docker`",
}


class Engine:
    """A container engine.

    Args:
        name: `"docker"` or `"podman"`; by default Docker, or Podman where there is no Docker.

    Raises:
        NotAvailable: there is no such program.
    """

    def __init__(self, name: EngineName | None = None) -> None:
        wanted: tuple[EngineName, ...] = (name,) if name else ("docker", "podman")
        for self.name in wanted:
            if program := shutil.which(self.name):
                self.program = program
                return
        raise NotAvailable(
            f"{' and '.join(wanted)} not found on PATH; install Docker "
            "(https://docs.docker.com/engine/install) or Podman, or run the environment without "
            "containers: `openenv serve`, ProcessProvider or UVProvider"
        )

    def ping(self) -> str:
        """The version of the engine that answers.

        Raises:
            NotAvailable: none does; the text says why and what to do.
        """
        args = [self.program, "version", "--format", "{{.Server.Version}}"]
        try:
            answer = run(args, timeout_s=PING_S, check=False)
        except NotReady:
            raise NotAvailable(
                f"{self.name} does not answer within {PING_S:g} s: its daemon hangs; restart it"
            ) from None
        if answer.code != 0:
            raise NotAvailable(f"{self.name} does not answer: {_advised(answer)}")
        return answer.stdout.strip()

    def call(
        self,
        *args: str,
        timeout_s: float = CALL_S,
        env: Mapping[str, str] | None = None,
        check: bool = True,
        finish_s: float = 0.0,
    ) -> Completed:
        """Runs one of the engine's commands; see `openenv.providers.command.run`.

        Raises:
            NotAvailable: the engine does not answer at all.
            ProviderError: the command failed.
        """
        command = [self.program, *args]
        try:
            answer = run(command, timeout_s=timeout_s, env=env, check=False, finish_s=finish_s)
        except NotReady as error:
            self.ping()
            raise ProviderError(str(error)) from error
        if answer.code != 0 and check:
            self.ping()
            raise ProviderError(failure(command, answer, env))
        return answer

    def inspect(self, kind: str, name: str) -> dict[str, Any] | None:
        """What the engine knows of an image, a container, …; `None` if there is none of the name.

        Raises:
            NotAvailable: the engine does not answer.
        """
        answer = self.call(kind, "inspect", name, check=False)
        if answer.code != 0:
            self.ping()
            return None
        found: list[dict[str, Any]] = json.loads(answer.stdout)
        return found[0] if found else None

    def swarm(self) -> dict[str, Any]:
        """What the engine is in a swarm.

        Raises:
            NotAvailable: the engine does not answer.
        """
        found: dict[str, Any] = json.loads(
            self.call("info", "--format", "{{json .Swarm}}").stdout or "{}"
        )
        return found

    def owned(self, kind: Literal["container", "service"]) -> dict[str, dict[str, str]]:
        """The labels of all that has an owner, by id.

        Raises:
            NotAvailable: the engine does not answer.
        """
        everything = ("--all",) if kind == "container" else ()
        listing = self.call(kind, "ls", *everything, "--quiet", "--filter", f"label={owner.OWNER}")
        ids = listing.stdout.split()
        if not ids:
            return {}
        answer = self.call(kind, "inspect", *ids, check=False)  # some may be gone by now
        return {thing["ID" if "ID" in thing else "Id"]: _labels(thing) for thing in _json(answer)}


def _json(answer: Completed) -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(answer.stdout or "[]")
    return found


def _labels(thing: Mapping[str, Any]) -> dict[str, str]:
    """Of a container or a service."""
    config = thing.get("Config") or thing.get("Spec") or {}
    return dict(config.get("Labels") or {})


def _advised(answer: Completed) -> str:
    said = answer.stderr.strip() or f"exit code {answer.code}"
    advice = next((a for sign, a in _ADVICE.items() if sign in said.lower()), "is it running?")
    return f"{said}; {advice}"
