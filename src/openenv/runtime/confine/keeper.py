"""The keeper: the parent of one session, which leaves nothing of it behind; and its own parent.

In a pid namespace it is the first process, and the kernel kills the others when it ends. Elsewhere
it adopts what the session's processes abandon, and kills it itself.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from glob import glob

from openenv.runtime.confine import kernel
from openenv.runtime.confine.features import Features
from openenv.runtime.confine.leftovers import Names, sweep
from openenv.runtime.confine.namespaces import enter_user_namespace
from openenv.runtime.confine.privileges import die_with, forget, pidfd, shield

SIGNALLED = 128
"""Added to a signal's number, for the exit code of a process that may not be killed by it."""


def prepare(features: Features) -> None:
    """Makes this process able to confine its children. To be called once, first of all.

    Without privileges it goes on in a child of the process that called, which only waits for it
    and ends as it does: in user and pid namespaces of its own, where it may make more of them.
    Its pid is then one that others don't know it by.

    Args:
        features: what `probe` found.

    Raises:
        OSError: the kernel refuses.
    """
    Names.claim()
    sweep()
    if features.user_namespace:
        _go_on_in_namespaces()
    elif "pidns" not in features:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        shield()


def keep_session(*, is_first: bool) -> None:
    """Goes on as the session, in a child; this process keeps it, and never returns.

    Args:
        is_first: whether this is the first process of its pid namespace.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if not is_first:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    own = pidfd()
    session = os.fork()
    if session == 0:
        die_with(own)
        forget(own)
        return
    shield()
    close_descriptors(0)
    code = _wait_for(session)
    if not is_first:
        _kill_all()
    os._exit(code)


def reap(known: Collection[int]) -> dict[int, int]:
    """Collects those children that have ended, and kills what they have left behind.

    Never blocks. To be called upon SIGCHLD, and now and then besides.

    Args:
        known: the children that are expected to run, by pid; any other is an orphan of a session
            that has ended, and is killed.

    Returns:
        The exit code of each known child that has ended; minus the signal's number if one
        killed it, or its session.
    """
    ended = {}
    for pid, status in _ended():
        if pid in known:
            code = os.waitstatus_to_exitcode(status)
            was_signalled = SIGNALLED < code <= SIGNALLED + signal.SIGRTMAX
            ended[pid] = SIGNALLED - code if was_signalled else code
    if kernel.is_subreaper():
        _kill(pid for pid in children(os.getpid()) if pid not in known)
    return ended


def close_descriptors(first: int, keep: Collection[int] = ()) -> None:
    """Closes all descriptors from a first one on, but those to keep."""
    for descriptor in sorted(each for each in keep if each >= first):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def children(pid: int) -> list[int]:
    """The children of a process, whichever of its threads has them; none if it has ended."""
    found: list[int] = []
    for path in glob(f"/proc/{pid}/task/*/children"):
        with suppress(OSError), open(path, encoding="utf-8") as file:
            found += map(int, file.read().split())
    return found


def _go_on_in_namespaces() -> None:
    enter_user_namespace(kernel.CLONE_NEWPID | kernel.CLONE_NEWNS)
    own = pidfd()
    child = os.fork()
    if child != 0:
        close_descriptors(0)
        os._exit(_wait_for(child))
    die_with(own)
    forget(own)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", flags)


def _wait_for(child: int) -> int:
    """The exit code of a child, having collected all others that end before it."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else SIGNALLED - code


def _ended() -> Iterator[tuple[int, int]]:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            yield pid, status


def _kill_all() -> None:
    """Kills all descendants of this process, and collects them."""
    with suppress(ChildProcessError):
        while True:
            _kill(children(os.getpid()))
            os.wait()


def _kill(pids: Iterable[int]) -> None:
    """Kills processes and their descendants, which are stopped first: one may fork meanwhile."""
    seen: set[int] = set()
    found = set(pids)
    while found - seen:
        for pid in found - seen:
            _signal(pid, signal.SIGSTOP)
        seen |= found
        found = {child for pid in seen for child in children(pid)}
    for pid in seen:
        _signal(pid, signal.SIGKILL)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
