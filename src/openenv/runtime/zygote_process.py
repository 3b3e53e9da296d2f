"""The zygote: a process that has imported an environment, and becomes a session by forking.

`python -m openenv.runtime.zygote_process` reads from its input what to import, then forks a child
for each session that it is told to. It has one thread and no event loop, so that a fork is safe;
it runs nothing of the environment but its imports.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import random
import select
import signal
import socket
import sys
from array import array
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from openenv.env.spec import EnvSpec
from openenv.runtime.child import converse, die_with_parent, mute_stdio, why_not
from openenv.runtime.host import SessionFactory, session_factory
from openenv.runtime.plan import Plan
from openenv.runtime.zygote_wire import ORDER, Event, News, Order

DESCRIPTORS = 2
"""What comes with the order to fork: the session's socket and its stderr."""


def main() -> None:
    """Imports what it is told to, then forks until its input ends."""
    os.closerange(3, 1 << 16)
    control = socket.socket(fileno=os.dup(0))
    mute_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    pickled = _read(control, int.from_bytes(_read(control, 4), "big"))
    plan: Plan = pickle.loads(pickled)  # our own parent's
    try:
        spec = plan.load()
        _warm(spec)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # told to the server
        return control.sendall(Event(News.FAILED, text=why_not(error)).encode())
    if threads := _stubborn_threads():
        return control.sendall(Event(News.UNFIT, text=threads).encode())
    die_with_parent(0)  # it outlives its server by a moment, to end the sessions
    gc.collect()
    gc.freeze()  # no later collection writes into pages that are shared
    control.sendall(Event(News.READY).encode())
    return Parent(control, session_factory(spec, tracebacks=plan.tracebacks)).run()


def _read(control: socket.socket, size: int) -> bytes:
    read = control.recv(size, socket.MSG_WAITALL)
    if len(read) < size:
        raise SystemExit(1)
    return read


def _warm(spec: EnvSpec) -> None:
    """Does once what each session would do."""
    with suppress(Exception):  # which each session will be told
        spec.parse_action  # noqa: B018  # builds the validator


def _stubborn_threads() -> str:
    """The threads that would be missing in a child, by name; empty if there are none.

    Libraries that know of forks (OpenBLAS) stop theirs at one, so one is tried.
    """
    if _count_threads() == 1:
        return ""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    if _count_threads() == 1:
        return ""
    import threading

    names = [thread.name for thread in threading.enumerate()[1:]]
    return ", ".join(names) or f"{_count_threads() - 1} of a library's own"


def _count_threads() -> int:
    return len(os.listdir("/proc/self/task"))


class Parent:
    """Forks, kills and collects.

    Args:
        control: the socket to the server.
        make: builds a session.
    """

    def __init__(self, control: socket.socket, make: SessionFactory) -> None:
        self._control = control
        self._make = make
        self._pids: dict[int, int] = {}
        self._awake, self._alarm = socket.socketpair()

    def run(self) -> None:
        """Obeys until the server is gone; no session outlives it."""
        self._alarm.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._alarm.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        for each in (self._control, self._awake):
            poll.register(each, select.POLLIN)
        with suppress(ConnectionError):
            while True:
                ready = [fd for fd, _ in poll.poll()]
                if self._awake.fileno() in ready:
                    self._awake.recv(4096)
                    self._collect()
                if self._control.fileno() in ready and not self._obey():
                    break
        for pid in self._pids.values():
            _kill_group(pid)

    def _obey(self) -> bool:
        """Does as it is told; whether there may be more."""
        read, descriptors = _receive(self._control)
        if len(read) < ORDER.size:
            return False
        order, session = ORDER.unpack(read)
        if order == Order.FORK:
            self._fork(session, descriptors)
        elif session in self._pids:
            _kill_group(self._pids[session])
        return True

    def _fork(self, session: int, descriptors: list[int]) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            why = f"no process could be forked: {error.strerror}"
            self._tell(Event(News.DIED, session, 0, why))
        else:
            if pid == 0:
                _die_after(lambda: self._be_session(*descriptors))
            with suppress(OSError):
                os.setpgid(pid, pid)
            self._pids[session] = pid
            self._tell(Event(News.BORN, session, pid))
        for descriptor in descriptors:
            os.close(descriptor)

    def _be_session(self, line: int, stderr: int) -> None:
        """In the child: gives up what is the zygote's, and lives."""
        os.setpgid(0, 0)
        die_with_parent()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._control, self._awake, self._alarm):
            each.close()
        os.dup2(stderr, 1)
        os.dup2(stderr, 2)
        os.close(stderr)
        _reseed()
        converse(line, lambda _: self._make())

    def _collect(self) -> None:
        """Tells of those that have died; what they had started dies with them."""
        for session, pid in list(self._pids.items()):
            died = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if died is not None:
                _kill_group(pid)  # while nobody else can have its number
                _, status = os.waitpid(pid, 0)
                del self._pids[session]
                self._tell(Event(News.DIED, session, os.waitstatus_to_exitcode(status)))

    def _tell(self, event: Event) -> None:
        self._control.sendall(event.encode())


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """An order, and the descriptors that came with it."""
    room = socket.CMSG_SPACE(DESCRIPTORS * array("i").itemsize)
    read, extras, _, _ = control.recvmsg(ORDER.size, room, socket.MSG_CMSG_CLOEXEC)
    descriptors = array("i")
    for _, _, sent in extras:
        descriptors.frombytes(sent)
    return read + control.recv(ORDER.size - len(read), socket.MSG_WAITALL), list(descriptors)


def _die_after(live: Callable[[], None]) -> NoReturn:
    """Lives and ends as a program of its own would, but leaves the interpreter as it is."""
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


def _reseed() -> None:
    """Gives this session chances of its own."""
    random.seed()
    if (numpy_random := sys.modules.get("numpy.random")) is not None:
        numpy_random.seed()


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
