"""Launch: what a provider is to start, and with how much of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openenv.protocol.errors import ConfigurationError, ProviderError


@dataclass(frozen=True)
class Resources:
    """What a server may use of its machine; `None` is no limit.

    Attributes:
        memory: as Docker writes it, for example `"512m"` or `"2g"`.
        cpus: processors, for example `1.5`.
        pids: processes and threads at once.
    """

    memory: str | None = "2g"
    cpus: float | None = None
    pids: int | None = 512


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What to start.

    Attributes:
        image: of a container.
        project: a directory, a `git+https://…` address or, for this machine, whatever `openenv
            serve` takes.
        app: the ASGI application in the project, as `module:name`.
        port: on this machine; `None` lets the engine choose.
        env_vars: variables of the server. Their values appear in no error, unless in a log that the
            server wrote them to.
        ready_timeout_s: how long it may take until the server is healthy, in seconds.
        resources: limits.
        options: the provider's own.
    """

    image: str | None = None
    project: str | Path | None = None
    app: str | None = None
    port: int | None = None
    env_vars: Mapping[str, str] = field(default_factory=dict, repr=False)
    ready_timeout_s: float = 60.0
    resources: Resources = Resources()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses what a container engine would take for an option of its own."""
        if self.image and self.image.startswith("-"):
            raise ProviderError(f"no image is named {self.image!r}; pass its name alone")


class UnknownOption(ProviderError, ConfigurationError):
    """A provider has no option of that name (also ValueError)."""


def refuse_unknown(options: Mapping[str, Any], known: tuple[str, ...], provider: str) -> None:
    """Checks the names of a provider's own options.

    Raises:
        UnknownOption: there is one that the provider does not know.
    """
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise UnknownOption(
            f"{provider} has no option {', '.join(unknown)}; its options are "
            f"{', '.join(sorted(known)) or 'none'}"
        )


def refuse_fields(launch: Launch, fields: tuple[str, ...], provider: str) -> None:
    """Checks that nothing was asked for that a provider has no use of.

    Raises:
        ProviderError: one of these fields is set.
    """
    for name in fields:
        if (value := getattr(launch, name)) is not None:
            raise ProviderError(f"{provider} has no use of {name}={str(value)!r}; leave it out")
