"""ProcessTree: all that a process has started, found and killed also where its keeper fails."""

from __future__ import annotations

import os
import secrets
import signal
from contextlib import suppress
from glob import glob
from typing import NamedTuple

AFTER_NAME = 2
"""Where the state stands among the fields of `/proc/PID/stat`, from which the name is cut off."""
ROUNDS = 50
"""How often it is looked for more, before those that were found are killed."""


class Process(NamedTuple):
    """A process; its number alone may belong to another one later.

    Attributes:
        pid: its number.
        began: when it began, in ticks since the machine did.
    """

    pid: int
    began: int


class ProcessTree:
    """The descendants of a process, as far as `/proc` tells of them.

    A process belongs to it that was seen below another one of the tree, or that has the tree's
    mark among the variables that it was started with. What has neither is never touched.

    Attributes:
        marks: the variable to start the first process with; its descendants inherit it.
    """

    def __init__(self) -> None:
        self.marks = {f"OPENENV_TREE_{secrets.token_hex(16)}": "1"}
        self._seen: set[Process] = set()

    def add(self, pid: int) -> None:
        """Has a process belong to it, which must not have been waited for."""
        if process := _running(pid):
            self._seen.add(process)

    def look(self) -> set[Process]:
        """Those that run, of which it takes note: they belong to it also when they are orphans."""
        alive = {process for process in self._seen if _running(process.pid) == process}
        fresh = alive
        while fresh:
            fresh = {below for process in fresh for below in _below(process)} - alive
            alive |= fresh
        self._seen = alive
        return set(alive)

    def kill(self) -> bool:
        """Kills all of it. They are stopped first: one that runs may fork meanwhile.

        Returns:
            whether there was any.
        """
        stopped: set[Process] = set()
        for _ in range(ROUNDS):
            fresh = self._found() - stopped
            if not fresh:
                break
            for process in fresh:
                _signal(process, signal.SIGSTOP)
            stopped |= fresh
        for process in stopped:
            _signal(process, signal.SIGKILL)
        return bool(stopped)

    def _found(self) -> set[Process]:
        (mark,) = self.marks
        for path in glob("/proc/[0-9]*/environ"):
            with suppress(OSError), open(path, "rb") as file:
                process = _running(int(path.split("/")[2]))
                if process and mark.encode() in file.read():
                    self._seen.add(process)
        return self.look()


def _running(pid: int) -> Process | None:
    """A process by its number, unless it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in b"ZX" else Process(pid, int(fields[21 - AFTER_NAME]))


def _below(process: Process) -> set[Process]:
    """The children of a process, whichever of its threads has them."""
    pids: list[int] = []
    for path in glob(f"/proc/{process.pid}/task/*/children"):
        with suppress(OSError), open(path, encoding="ascii") as file:
            pids += map(int, file.read().split())
    found = {child for pid in pids if (child := _running(pid))}
    return found if _running(process.pid) == process else set()


def _signal(process: Process, number: signal.Signals) -> None:
    """Sends a signal to that very process, also where its number is given away meanwhile."""
    with suppress(OSError):
        handle = os.pidfd_open(process.pid)
        try:
            if _running(process.pid) == process:
                signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)
