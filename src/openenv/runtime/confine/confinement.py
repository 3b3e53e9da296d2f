"""What a session is allowed, and what of it is in force."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from openenv.protocol.errors import ConfigurationError

Isolation = Literal["best", "strict"]
Level = Literal["full", "partial", "none"]


HOST = re.compile(r"(\*\.)?[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d{1,5})?")
PROXY_PROCESSES = 16
PRIVATE = frozenset(
    ("/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/tmp", "/var", "/var/lib")
)
"""Directories that are not shown to a session as a whole."""


class ConfineError(ConfigurationError):
    """A child is not confined as it must be, and may not run."""


@contextmanager
def promised(name: str) -> Iterator[None]:
    """Within, what the kernel refuses is a wall that cannot be put up."""
    try:
        yield
    except OSError as error:
        raise ConfineError(
            f"a session cannot be confined as was promised: {name}: {error}. Nothing of it has "
            "run; `openenv doctor` says what this machine can do"
        ) from error


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What one session may use and see.

    Attributes:
        network: `True`: it shares the host's network. `False`: it has only a loopback, its own.
            Hosts, as "example.org", "*.example.org" or "example.org:8443": it reaches these, by
            HTTP or a tunnel, through a proxy that the variables HTTPS_PROXY and the like name;
            without a port, 80 and 443 are meant. Where there are no network namespaces, none.
        memory_bytes: of all its processes together where cgroups are writable, else of each.
        cpu_s: CPU seconds after which a process of it is killed; `None`: no limit.
        cpus: how many CPUs it may keep busy, where cgroups are writable; `None`: all.
        max_processes: threads count too.
        max_files: open descriptors of a process.
        tmp_bytes: what it may write, to /tmp, /dev/shm and its home together; of each file, where
            there are no mount namespaces.
        readable: files and directories that it sees besides the system's programs and this Python,
            read-only; what another user than the owner may not read, it cannot either. Those that
            do not exist are left out.
        concealed: files and directories within those that it does not see, as real paths; where
            there are no mount namespaces, it sees their names alone.
        uid: the user and group that it runs as when this process is root; `None`: a number of its
            own that nobody else has.
    """

    network: bool | tuple[str, ...] = False
    memory_bytes: int = 1 << 30
    cpu_s: float | None = None
    cpus: float | None = None
    max_processes: int = 64
    max_files: int = 256
    tmp_bytes: int = 64 << 20
    readable: tuple[str, ...] = ()
    concealed: tuple[str, ...] = ()
    uid: int | None = None

    def __post_init__(self) -> None:
        for host in self.hosts:
            if not HOST.fullmatch(host):
                raise ConfineError(
                    f"network: {host!r} is no host; it may be 'example.org', '*.example.org' or "
                    "'example.org:8443'"
                )
        for path in self.readable:
            if not may_show(path):
                raise ConfineError(
                    f"readable={path!r} is no absolute path, or is too much to show to a session; "
                    "name the directories of its code"
                )

    @property
    def shares_network(self) -> bool:
        """Whether it has the host's network."""
        return self.network is True

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it may reach through a proxy."""
        return self.network if isinstance(self.network, tuple) else ()

    @property
    def all_processes(self) -> int:
        """How many there may be with ours: the keeper, and the proxy with its threads."""
        return self.max_processes + 1 + (PROXY_PROCESSES if self.hosts else 0)


def may_show(path: str) -> bool:
    """Whether a path may be `readable`: not what holds the secrets of users or of the system."""
    real = os.path.realpath(path)
    return os.path.isabs(path) and real not in PRIVATE and os.path.dirname(real) != "/home"


@dataclass(frozen=True)
class Applied:
    """What is in force in a child.

    Attributes:
        features: by name, in the order of `FEATURES`.
        missing: by name, why they are not.
        home: the directory that it may write to, its working directory.
    """

    features: tuple[str, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    home: str = "/tmp"

    @property
    def level(self) -> Level:
        """In a word: "full" is all that there is, "partial" lacks what `missing` says."""
        if not self.missing:
            return "full"
        return "partial" if self.features else "none"
