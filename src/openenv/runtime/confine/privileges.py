"""Privileges: those a process has, and those that it could come by."""

from __future__ import annotations

import os
import select
import signal
import sys

from openenv.runtime.confine import kernel

UID_FIRST = 0x70000000
"""Users from here on belong to nobody, by the convention that systemd documents."""
_LAST_CAPABILITY = 63


def unused_uid() -> int:
    """A user that nobody else is: its number is that of this process, so it has none before."""
    return UID_FIRST + int(os.readlink("/proc/self"))


def become(uid: int) -> None:
    """Becomes a user and group of that number for good, in no other group.

    Raises:
        OSError: the kernel refuses.
    """
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def forget_capabilities() -> None:
    """Keeps a program that is executed later from having any: where that needs no more rights."""
    for capability in range(_LAST_CAPABILITY + 1):
        try:
            kernel.prctl(kernel.PR_CAPBSET_DROP, capability)
        except OSError:  # there are no more of them, or this process has none
            return


def shield() -> None:
    """Keeps other processes of this user from reading this one's memory and variables.

    Where sessions have no pid namespace, their server needs this. It writes no core dumps then,
    and debuggers need root's rights.
    """
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def pidfd() -> int:
    """A descriptor of this process, for `die_with` in a child; -1 where the kernel has none."""
    try:
        return os.pidfd_open(os.getpid())
    except OSError:
        return -1


def forget(parent: int) -> None:
    """Closes what `pidfd` gave."""
    if parent >= 0:
        os.close(parent)


def die_with(parent: int) -> None:
    """Has the kernel kill this process when its parent dies; at once, if that is dead.

    To be called after the last change of user, which would undo it.

    Args:
        parent: a pidfd of it, or -1.
    """
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent >= 0:
        poll = select.poll()
        poll.register(parent, select.POLLIN)
        if poll.poll(0):
            os._exit(1)
