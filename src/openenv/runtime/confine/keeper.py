"""The zygote's side: it keeps its children, and gets rid of what they leave behind."""

from __future__ import annotations

import os
from collections.abc import Collection

from openenv.runtime.confine.features import Features


def prepare(features: Features) -> None:
    """Makes this process able to confine its children. To be called once, first of all.

    Without privileges it goes on in a child of the process that called, which only waits for it
    and ends as it does: in user and pid namespaces of its own, where it may make more of them.

    Args:
        features: what `probe` found.
    """


def reap(known: Collection[int]) -> dict[int, int]:
    """Collects those children that have ended, and kills what they have left behind.

    Never blocks. To be called upon SIGCHLD, and now and then besides.

    Args:
        known: the children that are expected to run, by pid; any other is an orphan of a session
            that has ended, and is killed.

    Returns:
        The exit code of each known child that has ended; minus the signal's number if one
        killed it.
    """
    ended = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid in known:
            ended[pid] = os.waitstatus_to_exitcode(status)
