"""Whose a container is, in labels: what a killed trainer left is known by its owner being dead."""

from __future__ import annotations

import os
import platform
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

PREFIX = "openenv."
OWNER = f"{PREFIX}owner"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_IDS: dict[int, str] = {}  # by process, since a forked one is an owner of its own


def labels() -> dict[str, str]:
    """The labels of what this process starts."""
    return {
        OWNER: _IDS.setdefault(os.getpid(), uuid.uuid4().hex),
        f"{PREFIX}pid": str(os.getpid()),
        f"{PREFIX}pid-started": _started(os.getpid()),
        f"{PREFIX}pid-namespace": _pid_namespace(),
        f"{PREFIX}boot": _read(BOOT_ID),
        f"{PREFIX}host": _host(),
        f"{PREFIX}created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def is_dead(found: Mapping[str, str]) -> bool:
    """Whether the owner that labels name is known to be dead: an unknown one is taken to live.

    Of processes on other machines, or in other process namespaces, nothing is known.
    """
    if OWNER not in found or found.get(f"{PREFIX}host") != _host():
        return False
    if found.get(f"{PREFIX}boot") != _read(BOOT_ID):
        return True  # the machine has been started anew since
    if found.get(f"{PREFIX}pid-namespace") != _pid_namespace():
        return False
    pid = found.get(f"{PREFIX}pid", "")
    if not pid.isascii() or not pid.isdigit():
        return False
    return not _exists(int(pid)) or _started(int(pid)) != found.get(f"{PREFIX}pid-started", "")


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return _state(pid) != "Z"  # a zombie is dead, whoever has not yet noticed


def _state(pid: int) -> str:
    return _fields(pid)[0]


def _started(pid: int) -> str:
    """When a process was started, in ticks since the boot; empty where the system does not say."""
    return _fields(pid)[19]


def _fields(pid: int) -> list[str]:
    """What follows the name in `/proc/PID/stat`."""
    _, _, rest = _read(f"/proc/{pid}/stat").rpartition(") ")
    return rest.split() or [""] * 20


def _host() -> str:
    """This machine; until its next start alone where it has no number, as in containers.

    Two of them may have the same name, on two machines that share an engine.
    """
    return f"{platform.node()}:{_read('/etc/machine-id') or _read(BOOT_ID)}"


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").stat().st_ino)
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
