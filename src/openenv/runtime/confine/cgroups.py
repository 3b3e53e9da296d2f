"""Control groups: limits for all processes of a session together, versions 1 and 2."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from openenv.runtime.confine.confinement import Confinement

_PERIOD_US = 100_000
_EMPTY_WITHIN_S = 2.0
_LOOK_EVERY_S = 0.005
CONTROLLERS = MappingProxyType(
    {"cgroup_memory": "memory", "cgroup_pids": "pids", "cgroup_cpu": "cpu"}
)
"""The features, and the controllers that they need."""
_COUNTER = "cpuacct"
"""Counts CPU time in version 1, and limits nothing."""
_VERSION_2 = frozenset({""})
_Mounts = Mapping[frozenset[str], tuple[str, str]]


@dataclass(frozen=True)
class Hierarchy:
    """Where this process may make groups.

    Attributes:
        version: 1 or 2.
        parent: the directory for new groups.
        controllers: what can be limited there.
    """

    version: int
    parent: str
    controllers: frozenset[str]


@dataclass(frozen=True)
class Usage:
    """What a session has used so far; `None` where there is no cgroup to tell.

    Attributes:
        memory_bytes: now.
        peak_memory_bytes: at most.
        cpu_s: CPU seconds.
        processes: now, with threads.
        out_of_memory: whether the kernel has killed a process of it for want of memory.
        processes_refused: whether it has wanted more processes than it may have.
    """

    memory_bytes: int | None = None
    peak_memory_bytes: int | None = None
    cpu_s: float | None = None
    processes: int | None = None
    out_of_memory: bool = False
    processes_refused: bool = False


class Groups:
    """The groups of one session: one per hierarchy."""

    def __init__(self) -> None:
        self._directories: list[tuple[Hierarchy, str]] = []

    @classmethod
    def make(cls, name: str, confinement: Confinement, features: Container[str]) -> Groups:
        """Makes the groups that the features among `CONTROLLERS` need.

        Raises:
            OSError: the kernel refuses; nothing is left.
        """
        groups = cls()
        controllers = [each for feature, each in CONTROLLERS.items() if feature in features]
        if controllers:
            controllers.append(_COUNTER)
        try:
            for hierarchy in hierarchies():
                if not hierarchy.controllers.isdisjoint(controllers):
                    groups._add(hierarchy, name, confinement, controllers)
        except OSError:
            groups.remove()
            raise
        return groups

    def _add(
        self, hierarchy: Hierarchy, name: str, limits: Confinement, wanted: Collection[str]
    ) -> None:
        directory = os.path.join(hierarchy.parent, name)
        os.mkdir(directory)
        self._directories.append((hierarchy, directory))
        for controller in hierarchy.controllers.intersection(wanted):
            for file, value, required in _settings(hierarchy.version, controller, limits):
                path = os.path.join(directory, file)
                if required or os.path.exists(path):
                    _write(path, value)

    def join(self) -> None:
        """Puts this process into them, which has one thread.

        Raises:
            OSError: the kernel refuses.
        """
        for hierarchy, directory in self._directories:
            # A thread that moves itself waits for no lock of the whole system, a process may.
            name = "tasks" if hierarchy.version == 1 else "cgroup.procs"
            _write(os.path.join(directory, name), "0")

    def usage(self) -> Usage:
        """What the processes in them have used so far."""
        files: dict[str, str] = {}
        for _, directory in self._directories:
            files.update((name, directory) for name in os.listdir(directory))
        numbers = _Numbers(files)
        cpu_ns = numbers.first("cpuacct.usage")
        cpu_us = numbers.entry("cpu.stat", "usage_usec")
        spent = cpu_ns / 1e9 if cpu_ns is not None else None
        return Usage(
            memory_bytes=numbers.first("memory.current", "memory.usage_in_bytes"),
            peak_memory_bytes=numbers.first("memory.peak", "memory.max_usage_in_bytes"),
            cpu_s=cpu_us / 1e6 if cpu_us is not None else spent,
            processes=numbers.first("pids.current"),
            out_of_memory=bool(
                numbers.entry("memory.events", "oom_kill")
                or numbers.entry("memory.oom_control", "oom_kill")
            ),
            processes_refused=bool(numbers.entry("pids.events", "max")),
        )

    def remove(self) -> None:
        """Kills what is left in them, and removes them.

        Raises:
            OSError: something in them does not die in time.
        """
        give_up_at = time.monotonic() + _EMPTY_WITHIN_S
        while self._directories:
            _, directory = self._directories[-1]
            kill_all_in(directory)
            try:
                os.rmdir(directory)
            except FileNotFoundError:
                pass
            except OSError:
                if time.monotonic() > give_up_at:
                    raise
                time.sleep(_LOOK_EVERY_S)
                continue
            self._directories.pop()


class _Numbers:
    """The numbers in a group's files, by the directory of each file."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def first(self, *names: str) -> int | None:
        """The one number of the first of these files that there is."""
        for name in names:
            if (text := self._read(name)) is not None:
                return int(text)
        return None

    def entry(self, name: str, key: str) -> int | None:
        """The number of one of a file's lines."""
        lines = (self._read(name) or "").splitlines()
        return next((int(line.split()[1]) for line in lines if line.startswith(f"{key} ")), None)

    def _read(self, name: str) -> str | None:
        if name not in self._files:
            return None
        with open(os.path.join(self._files[name], name), encoding="utf-8") as file:
            return file.read()


def _settings(
    version: int, controller: str, limits: Confinement
) -> Iterator[tuple[str, str, bool]]:
    """The files to write, what into them, and whether they must be there."""
    memory, pids = str(limits.memory_bytes), str(limits.all_processes)
    if controller == "memory" and version == 1:
        yield "memory.limit_in_bytes", memory, True
        yield "memory.memsw.limit_in_bytes", memory, False
    elif controller == "memory":
        yield "memory.max", memory, True
        yield "memory.swap.max", "0", False
    elif controller == "pids":
        yield "pids.max", pids, True
    elif controller == "cpu" and limits.cpus is not None:
        quota = str(max(1000, int(limits.cpus * _PERIOD_US)))
        if version == 1:
            yield "cpu.cfs_quota_us", quota, True
        else:
            yield "cpu.max", f"{quota} {_PERIOD_US}", True


@cache
def hierarchies() -> tuple[Hierarchy, ...]:
    """Where this process may make groups: in its own, or else beside that."""
    mounts = dict(_mounts())
    return tuple(
        hierarchy
        for line in _lines("/proc/self/cgroup")
        if (hierarchy := _hierarchy(line, mounts)) is not None
    )


def _hierarchy(line: str, mounts: _Mounts) -> Hierarchy | None:
    _, names, path = line.split(":", 2)
    controllers = frozenset(names.split(","))
    if controllers not in mounts:
        return None
    own = _below(*mounts[controllers], path)
    if controllers != _VERSION_2:
        known = controllers.intersection((*CONTROLLERS.values(), _COUNTER))
        return Hierarchy(1, own, known) if known else None
    for parent in (own, os.path.dirname(own)):  # processes and controlled groups exclude each other
        if os.access(parent, os.W_OK) and (found := _delegated(parent)):
            return Hierarchy(2, parent, found)
    return None


def _delegated(directory: str) -> frozenset[str]:
    """What the groups in a directory can have limited, in version 2."""
    lines = [*_lines(os.path.join(directory, "cgroup.subtree_control")), ""]
    return frozenset(CONTROLLERS.values()).intersection(lines[0].split())


def _mounts() -> Iterator[tuple[frozenset[str], tuple[str, str]]]:
    """By their controllers, where hierarchies are mounted, and which group of theirs is there."""
    for line in _lines("/proc/self/mountinfo"):
        fields, _, kind = line.partition(" - ")
        root, point = fields.split()[3:5]
        name, _, options = kind.split()[:3]
        if name == "cgroup2":
            yield _VERSION_2, (point, root)
        elif name == "cgroup":
            yield frozenset(options.split(",")) - {"rw", "ro"}, (point, root)


def _below(point: str, root: str, path: str) -> str:
    inside = os.path.relpath(path, root)
    return point if inside == "." or inside.startswith("..") else os.path.join(point, inside)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read().splitlines()
    except OSError:
        return []


def kill_all_in(directory: str) -> None:
    """Kills the processes that are in a group now."""
    for pid in _lines(os.path.join(directory, "cgroup.procs")):
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def _write(path: str, value: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(value)
