"""The zygote: a process that has imported an environment, and becomes a session by forking.

`python -m openenv.runtime.zygote_process` reads from its input what to import, then forks a child
for each session that it is told to. It has one thread and no event loop, so that a fork is safe;
it runs nothing of the environment but its imports.
"""

from __future__ import annotations

import errno
import gc
import os
import select
import signal
import socket
import sys
import threading
import time
from array import array
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from openenv.runtime.birth import Birth, Live
from openenv.runtime.child import die_with_parent, mute_stdio, why_not
from openenv.runtime.confine import Cell, ConfineError, Features, prepare, reap
from openenv.runtime.confine.keeper import children
from openenv.runtime.loose import Loose, exit_after
from openenv.runtime.overtime import cpu_seconds
from openenv.runtime.sandbox import Sandbox
from openenv.runtime.zygote_wire import ORDER, Event, News, Order

DESCRIPTORS = 3
"""What comes with the order to fork, at most: the session's socket, its stdout and its stderr."""
LOOK_MS = 1000
"""How often orphans of sessions are looked for, and what sessions have used."""
END_S = 5.0
PREFERRED = b"500"
"""Where the whole machine is out of memory, a session is to go before its zygote and server."""


def main() -> None:
    """Imports what it is told to, then forks until its input ends."""
    os.closerange(3, 1 << 16)
    control = socket.socket(fileno=os.dup(0))
    mute_stdio()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    birth: Birth = Birth.decode(_read(control, int.from_bytes(_read(control, 4), "big")))
    prepare(Features() if birth.sandbox is None else birth.sandbox.features)
    try:
        live = birth.prepare()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # told to the server
        return control.sendall(Event(News.FAILED, text=why_not(error)).encode())
    if why := _unfit(known={0, 1, 2, control.fileno()}):
        return control.sendall(Event(News.UNFIT, text=why).encode())
    die_with_parent(0)  # it outlives its server by a moment, to end the sessions
    gc.collect()
    gc.freeze()  # no later collection writes into pages that are shared
    control.sendall(Event(News.READY).encode())
    return Parent(control, live, birth.sandbox).run()


def _read(control: socket.socket, size: int) -> bytes:
    read = control.recv(size, socket.MSG_WAITALL)
    if len(read) < size:
        raise SystemExit(1)
    return read


def _unfit(known: Collection[int]) -> str:
    """What the imports have left that a child would lack or share, empty if it is nothing.

    Libraries that know of forks (OpenBLAS) stop their threads at one, so one is tried.

    Args:
        known: the descriptors that are ours.
    """
    if opened := [name for name in _opened(known) if not name.startswith("/dev/")]:
        return f"leaves open what sessions cannot share ({', '.join(opened)})"
    if _count_threads() > 1:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
    if _count_threads() > 1:
        names = ", ".join(thread.name for thread in threading.enumerate()[1:])
        return f"starts threads ({names or 'of a library'}), which a fork does not copy"
    return ""


def _opened(known: Collection[int]) -> Iterator[str]:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        with suppress(FileNotFoundError):  # that of the listing
            if descriptor not in known:
                yield os.readlink(f"/proc/self/fd/{descriptor}")


def _count_threads() -> int:
    return len(os.listdir("/proc/self/task"))


class Parent:
    """Forks, kills and collects.

    Args:
        control: the socket to the server.
        live: what a child lives.
        sandbox: what confines it, if anything does.
    """

    def __init__(self, control: socket.socket, live: Live, sandbox: Sandbox | None) -> None:
        self._control = control
        self._live = live
        self._sandbox = sandbox
        self._cells: dict[int, Cell | Loose] = {}
        self._spare: Cell | Loose | None = None
        self._sessions: dict[int, int] = {}
        self._own = frozenset(children(os.getpid()))
        self._last_look = 0.0
        self._overtime: set[int] = set()
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
            while self._turn([fd for fd, _ in poll.poll(0) or self._idle(poll)]):
                pass
        self._end()

    def _idle(self, poll: select.poll) -> list[tuple[int, int]]:
        """There is nothing to do: the next session's cell can be opened."""
        if self._spare is None:
            with suppress(OSError, ConfineError):  # the next session will be told
                self._spare = self._open_cell()
        return poll.poll(LOOK_MS)

    def _turn(self, ready: list[int]) -> bool:
        """Does what there is to do; whether there may be more."""
        if self._awake.fileno() in ready:
            self._awake.recv(4096)
        self._collect()
        self._watch()
        return self._control.fileno() not in ready or self._obey()

    def _obey(self) -> bool:
        read, descriptors, is_whole = _receive(self._control)
        if len(read) < ORDER.size:
            return False
        order, session = ORDER.unpack(read)
        if order == Order.FORK:
            self._fork(session, descriptors, is_whole=is_whole)
        else:
            for pid in [pid for pid, each in self._sessions.items() if each == session]:
                self._cells[pid].kill()
        return True

    def _fork(self, session: int, descriptors: list[int], *, is_whole: bool) -> None:
        cell, self._spare = self._spare, None
        try:
            if not is_whole:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            cell = cell or self._open_cell()
            pid = cell.fork()
        except (OSError, ConfineError) as error:
            if cell is not None:
                self._close(cell)
            self._tell(Event(News.DIED, session, 0, f"it could not be forked: {error}"))
        else:
            if pid == 0:
                exit_after(lambda: self._be_session(cell, *descriptors))
            self._cells[pid] = cell
            self._sessions[pid] = session
            self._tell(Event(News.BORN, session, pid if self._sandbox is None else 0))
        for descriptor in descriptors:
            os.close(descriptor)

    def _open_cell(self) -> Cell | Loose:
        if self._sandbox is None:
            return Loose()
        return Cell.open(self._sandbox.confinement, self._sandbox.features)

    def _be_session(self, cell: Cell | Loose, line: int, *prints: int) -> None:
        """In the child: gives up what is the zygote's, and lives."""
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_bytes(PREFERRED)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for each in (self._control, self._awake, self._alarm):
            each.close()
        os.dup2(prints[0], 1)
        os.dup2(prints[-1], 2)
        for pipe in prints:
            os.close(pipe)
        if (numpy_random := sys.modules.get("numpy.random")) is not None:
            numpy_random.seed()  # Python's own generator sees to that itself
        self._live(line, self._enter(cell, line))

    def _enter(self, cell: Cell | Loose, line: int) -> ConfineError | None:
        """Confines this process; gives why its session may not run."""
        try:
            applied = cell.enter(keep=(0, 1, 2, line))
        except ConfineError as error:
            return error
        if self._sandbox is not None and applied is not None:
            return self._sandbox.refuse(applied)
        return None

    def _watch(self) -> None:
        """Ends those that have had their CPU time, now and then."""
        limit = None if self._sandbox is None else self._sandbox.confinement.cpu_s
        if limit is None or time.monotonic() < self._last_look + LOOK_MS / 1000:
            return
        self._last_look = time.monotonic()
        for pid, cell in self._cells.items():
            if _cpu_seconds(cell) > limit:
                self._overtime.add(pid)
                cell.kill()

    def _end(self) -> None:
        """The server is gone, and so is every session."""
        signal.set_wakeup_fd(-1)  # it may be closed before the last of them has died
        for cell in self._cells.values():
            cell.kill()
        deadline = time.monotonic() + END_S
        while self._cells and time.monotonic() < deadline:
            self._collect()
            time.sleep(0.005)
        if self._spare is not None:
            self._close(self._spare)

    def _collect(self) -> None:
        """Tells of those that have died; what they had started dies with them."""
        for pid, code in reap(self._cells.keys() | self._own).items():
            if pid in self._cells:
                self._buried(self._cells.pop(pid), code)

    def _buried(self, cell: Cell | Loose, code: int) -> None:
        session = self._sessions.pop(cell.pid)
        overtime = cell.pid in self._overtime or code == -signal.SIGXCPU
        self._overtime.discard(cell.pid)
        limit = ""
        with suppress(OSError):  # its control group is gone
            if self._sandbox is not None:
                limit = self._sandbox.limit_reached(cell.usage(), code, overtime=overtime)
        self._tell(Event(News.DIED, session, code, limit))
        self._close(cell)

    def _close(self, cell: Cell | Loose) -> None:
        try:
            cell.close()
        except OSError as error:
            sys.stderr.write(f"openenv: something of a session does not end: {error}\n")

    def _tell(self, event: Event) -> None:
        with suppress(ConnectionError):  # the server is gone, as we are about to read
            self._control.sendall(event.encode())


def _cpu_seconds(cell: Cell | Loose) -> float:
    """What a session has used; its control group knows also of processes that nobody collects."""
    counted = None
    with suppress(OSError):
        counted = cell.usage().cpu_s
    return cpu_seconds(cell.pid) if counted is None else counted


def _receive(control: socket.socket) -> tuple[bytes, list[int], bool]:
    """An order, the descriptors that came with it, and whether this process has room for all."""
    room = socket.CMSG_SPACE(DESCRIPTORS * array("i").itemsize)
    read, extras, flags, _ = control.recvmsg(ORDER.size, room, socket.MSG_CMSG_CLOEXEC)
    descriptors = array("i")
    for _, _, sent in extras:
        descriptors.frombytes(sent)
    read += control.recv(ORDER.size - len(read), socket.MSG_WAITALL)
    return read, list(descriptors), not flags & socket.MSG_CTRUNC


if __name__ == "__main__":
    main()
