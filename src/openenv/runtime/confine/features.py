"""What a kernel lets us use, and why not the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from openenv.runtime.confine.confinement import Level

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        "mountns": "sees only the system's programs and its own code, read-only",
        "pidns": "sees no process but its own, and none outlives it",
        "netns": "has no network",
        "ipcns": "shares no memory or queues of System V",
        "utsns": "has a host name of its own",
        "own_user": "has nobody's rights: a user of its own, or a user namespace",
        "no_new_privs": "has no capabilities, and gains none by setuid programs",
        "pdeathsig": "dies with its server",
        "seccomp": "cannot make the kernel's dangerous calls",
        "landlock": "is kept from files, ports and processes a second time",
        "rlimits": "has limits for each process",
        "cgroup_memory": "has a limit of memory for all its processes together",
        "cgroup_pids": "has a limit of processes",
        "cgroup_cpu": "has a share of the CPU",
    }
)
"""Each feature, and what a session is or has by it."""
NAMESPACES = ("mountns", "pidns", "netns", "ipcns", "utsns")


@dataclass(frozen=True)
class Features:
    """What this machine has.

    Attributes:
        available: names, each with how: a version, or the way it is reached.
        missing: names, each with why, and what would help.
        user_namespace: whether namespaces need one, as they do without privileges.
    """

    available: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    user_namespace: bool = False

    def __contains__(self, name: object) -> bool:
        return name in self.available

    def without(self, names: Iterable[str], why: str = "switched off") -> Features:
        """The same without some, and without what depends on them."""
        gone = set(names)
        by_user_namespace = self.user_namespace and "pidns" not in gone
        if self.user_namespace and not by_user_namespace:
            gone |= {*NAMESPACES, "own_user"}
        return Features(
            {name: how for name, how in self.available.items() if name not in gone},
            {**{name: why for name in self.available if name in gone}, **self.missing},
            by_user_namespace,
        )

    @property
    def level(self) -> Level:
        """What a session gets here, in a word: see `Applied.level`."""
        if not self.missing:
            return "full"
        return "partial" if self.available else "none"
