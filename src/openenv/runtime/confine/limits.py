"""Limits of each process: of memory, time, processes, files and their size."""

from __future__ import annotations

import math
import os
import resource

from openenv.runtime.confine.confinement import Confinement

_PAGE = resource.getpagesize()


def limit(confinement: Confinement, *, together: bool, processes: int | None) -> None:
    """Sets this process's limits, and its children's.

    Args:
        confinement: what is allowed.
        together: whether a cgroup limits the memory of all: then what is only reserved is free.
        processes: how many of the same user there may be, threads included; `None`: any number.
    """
    size, data = _sizes()
    memory = confinement.memory_bytes
    if together:  # an error comes before the end
        memory -= memory // 8
    else:
        _lower(resource.RLIMIT_AS, size + memory)
    _lower(resource.RLIMIT_DATA, data + memory)
    if confinement.cpu_s is not None:
        seconds = math.ceil(confinement.cpu_s)
        _lower(resource.RLIMIT_CPU, seconds, seconds + 1)
    if processes is not None:
        _lower(resource.RLIMIT_NPROC, processes)
    _lower(resource.RLIMIT_NOFILE, confinement.max_files)
    _lower(resource.RLIMIT_FSIZE, confinement.tmp_bytes)
    _lower(resource.RLIMIT_CORE, 1)  # 0 would still run a collector of dumps, as root


def processes_of(uid: int) -> int:
    """How many processes a user has now, threads included."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid:
                    count += os.stat(f"{entry.path}/task").st_nlink - 2
            except OSError:  # it has just ended
                continue
    return count


def _sizes() -> tuple[int, int]:
    """What this process has reserved now, and of that what it may write to, in bytes."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        fields = file.read().split()
    return int(fields[0]) * _PAGE, int(fields[5]) * _PAGE


def _lower(kind: int, soft: int, hard: int | None = None) -> None:
    """Sets a limit, but never above the one that is there."""
    _, ceiling = resource.getrlimit(kind)
    wanted = soft if hard is None else hard
    top = wanted if ceiling == resource.RLIM_INFINITY else min(wanted, ceiling)
    resource.setrlimit(kind, (min(soft, top), top))
