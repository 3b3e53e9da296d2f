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
from openenv.runtime.confine.keeper import keep_session
from openenv.runtime.watch import kill_group


class Loose:
    """A session whose processes end with it, and nothing more.

    Attributes:
        pid: its keeper's, which leads a group; 0 until `fork`, and in the child.
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
        """In the child: dies with its parent, and goes on in a child that a keeper looks after."""
        os.setpgid(0, 0)
        die_with_parent()
        if os.getppid() != self._parent:  # which has died before
            os._exit(1)
        keep_session(is_first=False)

    def kill(self) -> None:
        """Ends it and all in its group."""
        kill_group(self.pid)

    def usage(self) -> Usage:
        """Nobody counts."""
        return Usage()

    def close(self) -> None:
        """There is nothing to give back."""


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
