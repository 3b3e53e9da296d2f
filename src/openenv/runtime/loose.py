"""Loose: a session's process that nothing confines, with the life of a confined one."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import NoReturn

from openenv.runtime.child import die_with_parent
from openenv.runtime.confine import Usage
from openenv.runtime.watch import kill_group


class Loose:
    """A child that leads a group: what it starts ends with it, unless that leaves the group.

    Attributes:
        pid: its process; 0 until `fork`, and in the child.
    """

    def __init__(self) -> None:
        self.pid = 0
        self._parent = os.getpid()

    def fork(self) -> int:
        """Like `os.fork`."""
        self.pid = os.fork()
        if self.pid:
            with suppress(OSError):  # it may have done so itself, and even have ended
                os.setpgid(self.pid, self.pid)
        return self.pid

    def enter(self, keep: Collection[int] = ()) -> None:
        """In the child: its group is its own, and it dies with its parent."""
        os.setpgid(0, 0)
        die_with_parent()
        if os.getppid() != self._parent:  # which has died before
            os._exit(1)

    def kill(self) -> None:
        """Ends it and all in its group."""
        kill_group(self.pid)

    def usage(self) -> Usage:
        """Nobody counts."""
        return Usage()

    def close(self) -> None:
        """There is nothing to give back."""


def reap_loose(known: Collection[int]) -> dict[int, int]:
    """Collects the children that have ended, and kills what is left of the groups of the known.

    Returns:
        The exit code of each; minus the signal's number if one killed it.
    """
    ended = {}
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            pid = found.si_pid
            if pid in known:
                kill_group(pid)  # while nobody else can have its number
            ended[pid] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return ended


def exit_after(live: Callable[[], None]) -> NoReturn:
    """Lives, then ends as a program of its own would, but for taking the interpreter down."""
    code = 1
    try:
        live()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001  # as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(BaseException):
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
