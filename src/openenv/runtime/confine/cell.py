"""Cell: one session's place in the sandbox, from the fork to the last of what it used."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from openenv.runtime.confine.confinement import Applied, Confinement
from openenv.runtime.confine.features import Features


@dataclass(frozen=True)
class Usage:
    """What a session has used so far; `None` where cgroups don't tell.

    Attributes:
        memory_bytes: now.
        peak_memory_bytes: at most.
        cpu_s: CPU seconds.
        processes: now, with threads.
        out_of_memory: whether the kernel has killed a process of it for want of memory.
    """

    memory_bytes: int | None = None
    peak_memory_bytes: int | None = None
    cpu_s: float | None = None
    processes: int | None = None
    out_of_memory: bool = False


class Cell:
    """One session's confinement. Made with `open`, ended with `close`.

    Attributes:
        pid: of the child, for `reap`: the session itself is a child of that, whose exit code it
            takes over, 128 + n if signal n killed the session. 0 until `fork`, and in the child.
    """

    def __init__(self, confinement: Confinement, features: Features) -> None:
        self._confinement = confinement
        self._features = features
        self.pid = 0

    @classmethod
    def open(cls, confinement: Confinement, features: Features) -> Cell:
        """Takes what has to be there before the fork: the session's cgroups, or its directory."""
        return cls(confinement, features)

    def fork(self) -> int:
        """Like `os.fork`. Nothing is confined in the child until it calls `enter`.

        Raises:
            OSError: there are no more processes, or no more memory.
        """
        self.pid = os.fork()
        return self.pid

    def enter(self, keep: Collection[int] = ()) -> Applied:
        """Confines this process for good. In the child, before any code that isn't trusted.

        The process that returns is a child of the one that called. HOME, TMPDIR and the working
        directory are the session's own afterwards; random generators are not reseeded.

        Args:
            keep: the descriptors that stay open; 0, 1 and 2 are /dev/null unless named.

        Raises:
            ConfineError: a wall that `features` promises could not be put up. Nothing may run.
        """
        limits = self._confinement
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits.max_files, limits.max_files))
        return Applied(("rlimits",), dict(self._features.missing))

    def kill(self) -> None:
        """Ends the session and all that it has started, now."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def usage(self) -> Usage:
        """What the session has used so far."""
        return Usage()

    def close(self) -> None:
        """Gives back what `open` took, killing what is still in there. To be called once reaped."""
