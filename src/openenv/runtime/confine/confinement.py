"""What a session is allowed, and what of it is in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from openenv.protocol.errors import ConfigurationError

Isolation = Literal["best", "strict"]
Level = Literal["full", "partial", "none"]


class ConfineError(ConfigurationError):
    """A child is not confined as it must be, and may not run."""


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What one session may use and see.

    Attributes:
        network: whether the host's network is its own too. Without it there is only a loopback,
            its own.
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
        uid: the user and group that it runs as when this process is root; `None`: a number of its
            own that nobody else has.
    """

    network: bool = False
    memory_bytes: int = 1 << 30
    cpu_s: float | None = None
    cpus: float | None = None
    max_processes: int = 64
    max_files: int = 256
    tmp_bytes: int = 64 << 20
    readable: tuple[str, ...] = ()
    uid: int | None = None


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
