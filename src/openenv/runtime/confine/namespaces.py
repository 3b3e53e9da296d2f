"""Namespaces: a view of the system of one's own."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Collection

from openenv.runtime.confine import kernel

FLAGS = {
    "mountns": kernel.CLONE_NEWNS,
    "netns": kernel.CLONE_NEWNET,
    "ipcns": kernel.CLONE_NEWIPC,
    "utsns": kernel.CLONE_NEWUTS,
}
"""Those that a process enters itself; a pid namespace begins with a child."""
HOST_NAME = "session"
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1


def enter_namespaces(names: Collection[str]) -> None:
    """Gives this process those of `FLAGS` that are named, with a loopback and a host's name.

    Raises:
        OSError: the kernel refuses.
    """
    if names:  # even a call for none may be forbidden
        kernel.unshare(sum(flag for name, flag in FLAGS.items() if name in names))
    if "netns" in names:
        _bring_up_loopback()
    if "utsns" in names:
        kernel.set_hostname(HOST_NAME)


def enter_user_namespace(flags: int = 0) -> None:
    """Gives this process every capability over namespaces that begin here, and no other.

    It stays the user that it is.

    Raises:
        OSError: the kernel refuses.
    """
    uid, gid = os.getuid(), os.getgid()
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # or the files of the maps would not be its own
    kernel.unshare(kernel.CLONE_NEWUSER | flags)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
            file.write(text)


def fork_into_pid_namespace() -> int:
    """Like `os.fork`, but the child is the first process of a pid namespace.

    Raises:
        OSError: the kernel refuses.
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        kernel.unshare(kernel.CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            if pid != 0:  # or later children would be born there too
                kernel.setns(own, kernel.CLONE_NEWPID)
    finally:
        os.close(own)
    return pid


def _bring_up_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", IFF_UP)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, request)
