"""Runs as a program of its own: a server that outlives neither its end nor who asked for it.

    python -I -S keeper.py GRACE_S[,FD] COMMAND…

The server reads nothing, or what comes by the descriptor FD. It leads a process group. When this
program's input ends, since it was closed or because its parent died in whatever way, and also on a
signal, the group is asked to end, and killed after a grace. What a server started and left, also
outside of its group, is killed with it on Linux. The exit code is the server's; 128 and the number
of the signal that it died of.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from types import FrameType

LOOK_S = 1.0
"""How often it is checked who the parent is: a fork of it may hold our input open."""
SWEEPS = 50
PAUSE_S = 0.02
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

Code = int


def keep(command: list[str], grace_s: float, reads: int = subprocess.DEVNULL) -> Code:
    """Runs a command until it ends or is to end."""
    parent = os.getppid()
    wakened, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking)
    signals: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, note)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    server = _start(command, reads)
    code = _collect(server)
    while code is None and not signals and os.getppid() == parent:
        ready, _, _ = select.select([0, wakened], [], [], LOOK_S)
        if wakened in ready:
            os.read(wakened, 4096)
        if 0 in ready and not os.read(0, 4096):
            break
        code = _collect(server)
    return _end(server, code, grace_s)


def _start(command: list[str], reads: int) -> int:
    """Starts the server, which dies when this program does; its process id."""
    try:
        process = subprocess.Popen(
            command,
            stdin=reads,
            start_new_session=True,
            preexec_fn=lambda: _prctl(PR_SET_PDEATHSIG, signal.SIGKILL),  # noqa: PLW1509  # one thread
        )
    except OSError as error:
        sys.exit(f"{command[0]} cannot be run: {error.strerror or error}")
    if reads >= 0:
        os.close(reads)  # who writes there is to see that the server has ended
    process.returncode = 0  # it is collected here, with all others
    return process.pid


def _end(server: int, code: Code | None, grace_s: float) -> Code:
    deadline = time.monotonic() + grace_s
    if code is None:
        _signal_group(server, signal.SIGTERM)
    while code is None and time.monotonic() < deadline:
        time.sleep(PAUSE_S)
        code = _collect(server)
    for _ in range(SWEEPS):  # those who are left become our children, one generation after another
        _signal_group(server, signal.SIGKILL)
        for child in _children():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(child, signal.SIGKILL)
        ended = _collect(server)
        code = ended if code is None else code
        if code is not None and not _children():
            break
        time.sleep(PAUSE_S)
    return 128 + signal.SIGKILL if code is None else code


def _collect(server: int) -> Code | None:
    """Collects whatever has ended; the exit code of the server if it is among them."""
    code: Code | None = None
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == server:
                code = os.waitstatus_to_exitcode(status)
    return code if code is None or code >= 0 else 128 - code


def _signal_group(server: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server, number)


def _children() -> list[int]:
    """Our children, where the system tells."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as listing:
            return [int(pid) for pid in listing.read().split()]
    except OSError:
        return []


def _prctl(option: int, value: int) -> None:
    """On Linux; elsewhere there is nothing like it."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    grace, _, descriptor = sys.argv[1].partition(",")
    sys.exit(keep(sys.argv[2:], float(grace), int(descriptor or subprocess.DEVNULL)))
