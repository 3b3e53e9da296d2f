"""Cell: one session's place in the sandbox, from the fork to the last of what it used."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Collection
from contextlib import suppress

from openenv.runtime.confine.cgroups import Groups, Usage
from openenv.runtime.confine.confinement import (
    Applied,
    ConfineError,
    Confinement,
    promised,
)
from openenv.runtime.confine.entrance import Entrance
from openenv.runtime.confine.features import Features
from openenv.runtime.confine.keeper import close_descriptors
from openenv.runtime.confine.layout import layout_of
from openenv.runtime.confine.leftovers import Names
from openenv.runtime.confine.namespaces import fork_into_pid_namespace
from openenv.runtime.confine.privileges import forget, pidfd
from openenv.runtime.confine.root import HOME


class Cell:
    """One session's confinement. Made with `open`, ended with `close`.

    Attributes:
        pid: of the child, for `reap`: the session itself is a child of that, whose exit code it
            takes over, 128 + n if signal n killed the session. 0 until `fork`, and in the child.
    """

    def __init__(self, confinement: Confinement, features: Features, groups: Groups) -> None:
        self._confinement = confinement
        self._features = features
        self._groups = groups
        self._directory: str | None = None
        self._zygote = -1
        self.pid = 0

    @classmethod
    def open(cls, confinement: Confinement, features: Features) -> Cell:
        """Takes what has to be there before the fork: the session's cgroups, or its directory.

        Raises:
            ConfineError: the kernel refuses.
        """
        name = Names.new()
        layout_of(confinement)  # found out here, it is known to every child
        if confinement.hosts:
            import openenv.runtime.confine.egress  # noqa: F401  # likewise
        with promised("cgroups"):
            cell = cls(confinement, features, Groups.make(name, confinement, features))
        if "mountns" not in features:
            cell._make_home(os.path.join(tempfile.gettempdir(), name))
        return cell

    def fork(self) -> int:
        """Like `os.fork`. Nothing is confined in the child until it calls `enter`.

        Raises:
            OSError: there are no more processes, or no more memory.
        """
        self._zygote = pidfd()
        self.pid = -1
        try:
            self.pid = fork_into_pid_namespace() if "pidns" in self._features else os.fork()
        finally:
            if self.pid != 0:
                forget(self._zygote)
        return self.pid

    def enter(self, keep: Collection[int] = ()) -> Applied:
        """Confines this process for good. In the child, before any code that isn't trusted.

        The process that returns is a child of the one that called. HOME, TMPDIR and the working
        directory are the session's own afterwards; random generators are not reseeded.

        Args:
            keep: the descriptors that stay open, besides 0, 1 and 2. Sockets and pipes: what
                leads to a directory of the host would lead out.

        Raises:
            ConfineError: a wall that `features` promises could not be put up. Nothing may run.
        """
        close_descriptors(3, [*keep, self._zygote])
        with suppress(PermissionError):  # it leads a group already
            os.setsid()
        with promised("cgroups"):
            self._groups.join()
        entrance = Entrance(self._confinement, self._features, self._directory or HOME)
        return entrance.enter(self._zygote)

    def kill(self) -> None:
        """Ends the session and all that it has started, now."""
        if self.pid > 0:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def usage(self) -> Usage:
        """What the session has used so far; of one that has ended, until `close`."""
        return self._groups.usage()

    def close(self) -> None:
        """Gives back what `open` took, killing what is still in there. To be called once reaped.

        Raises:
            OSError: something of the session does not die.
        """
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
        self._groups.remove()

    def _make_home(self, path: str) -> None:
        try:
            with promised("its directory"):
                os.mkdir(path, 0o700)
        except ConfineError:
            self.close()
            raise
        self._directory = path
