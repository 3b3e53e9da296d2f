"""The interpreter's side: a process in the sandbox that runs one piece of code after the other."""

from __future__ import annotations

import builtins
import gc
import importlib
import io
import math
import os
import random
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from openenv.executor.exceptions import FILE, exit_code_of, fault_of
from openenv.executor.found import Finder
from openenv.executor.limits import ExecutorLimits
from openenv.executor.names import namespace, restrict
from openenv.executor.piece import Piece, shown
from openenv.executor.wire import (
    HEADER,
    MOST_FOUND,
    TEXT_BYTES,
    Answer,
    Call,
    Fault,
    Kind,
    Outcome,
    Ready,
    Run,
    cut,
    decode,
    encode,
)
from openenv.runtime.child import let_go_of

OWN = ("PYTHONPATH", "PYTHONSAFEPATH")
"""Variables of ours, which the programs that the code starts do not need."""
SETUP = "<setup>"


@dataclass(frozen=True)
class Order:
    """What an interpreter is to be.

    Attributes:
        limits: what it may use.
        imports: what it may import, `None` is everything.
        preload: what is imported for it.
        tools: the names of the functions that it may call, and what `help` shows of each.
        setup: what it runs first.
    """

    limits: ExecutorLimits
    imports: tuple[str, ...] | None
    preload: tuple[str, ...]
    tools: tuple[tuple[str, str], ...]
    setup: str


class Line:
    """The socket to the executor. One thread speaks at a time.

    Tools may be called only as long as a piece of code runs.

    Args:
        descriptor: the socket.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._token = b""
        os.set_inheritable(descriptor, False)
        os.register_at_fork(after_in_child=partial(let_go_of, descriptor))

    def ask(self, tool: str, arguments: bytes) -> Answer:
        """Calls a tool, with arguments as JSON."""
        with self._lock:
            if not self._token:
                raise RuntimeError("tools can be called only while a piece of code runs")
            self.send(Kind.CALL, Call(self._token, tool, arguments))
            return decode(self._read_body(), Answer)

    def next_run(self) -> Run:
        """What is to be run next.

        Raises:
            EOFError: there is nothing more.
        """
        run = decode(self._read_body(), Run)
        self._token = run.token
        return run

    def shut(self) -> None:
        """Tools may not be called any more; one that is being called is waited for."""
        with self._lock:
            self._token = b""

    def send(self, kind: Kind, body: Any) -> None:
        """Sends a frame."""
        left = memoryview(encode(kind, body))
        while left:
            left = left[os.write(self._descriptor, left) :]

    def _read_body(self) -> bytes:
        _, size = HEADER.unpack(self._read(HEADER.size))
        return self._read(size)

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self._descriptor, min(size, 1 << 16))
            if not part:
                raise EOFError("the executor has closed the line")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class Worker:
    """One interpreter's life.

    Args:
        order: what it is to be.
        line: to the executor.
    """

    def __init__(self, order: Order, line: Line) -> None:
        self._order = order
        self._line = line
        self._standard = tuple(_kept(descriptor) for descriptor in range(3))
        most = min(order.limits.artefacts, MOST_FOUND)
        self._finder = Finder(os.getcwd(), most, order.limits.artefact_bytes)
        self._names = namespace(order.tools, line.ask)
        self._builtins = dict(builtins.__dict__)
        self._modules = dict(sys.modules)
        self._depth = sys.getrecursionlimit()

    def live(self) -> NoReturn:
        """Answers until there is nothing more to run."""
        self._line.send(Kind.READY, Ready(self._set_up()))
        while True:
            run = self._line.next_run()
            if run.seed:
                _seed(int(run.seed))
            self._settle()
            outcome = self._outcome(run)
            self._line.shut()
            self._finish(outcome)
            self._line.send(Kind.OUTCOME, outcome)

    def _set_up(self) -> str:
        """Runs what comes first; why that cannot be, empty if it can."""
        try:
            Piece.compile(self._order.setup, SETUP).run(self._names)
        except BaseException as error:  # noqa: BLE001  # told to the executor
            return f"setup: {cut(f'{type(error).__name__}: {error}', TEXT_BYTES // 2)[0]}"
        self._finder.new()
        if self._order.imports is not None:
            restrict(self._names, self._order.imports)
        return ""

    def _settle(self) -> None:
        """Gives the code its input and outputs, whatever it has done to them before.

        Without opening anything: it may have opened all that it may.
        """
        for number, kept in enumerate(self._standard):
            os.dup2(kept, number)
        sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False), "utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = _writer(1), _writer(2)

    def _mend(self) -> None:
        """Takes back what the code may have done to Python itself; first what all else needs."""
        builtins.__dict__.update(self._builtins)
        sys.settrace(None)
        sys.setprofile(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if len(sys.modules) < len(self._modules):
            sys.modules.update(self._modules)
        if sys.getrecursionlimit() < self._depth:
            sys.setrecursionlimit(self._depth)

    def _outcome(self, run: Run) -> Outcome:
        name = f"{FILE}{run.number}>"
        try:
            piece = Piece.compile(run.code.decode(errors="surrogatepass"), name)
        except BaseException as error:  # noqa: BLE001  # the code's own
            return Outcome(run.token, 1, fault=_fault(error))
        try:
            value = self._value(piece)
        except MemoryError as error:
            return Outcome(run.token, 1, fault=_fault(error), out_of_memory=True)
        except BaseException as error:  # noqa: BLE001  # the code's own
            return Outcome(run.token, exit_code_of(error), fault=_fault(error))
        if value is None:
            return Outcome(run.token)
        value, is_cut = cut(value, self._order.limits.output_bytes)
        return Outcome(run.token, value=value, truncated=["value"] if is_cut else [])

    def _value(self, piece: Piece) -> str | None:
        try:
            return shown(piece.run(self._names))
        finally:
            self._mend()

    def _finish(self, outcome: Outcome) -> None:
        """Adds what the code has left."""
        for name in ("stdout", "stderr"):
            with suppress(Exception):  # they may be the code's own by now
                getattr(sys, name).flush()
        try:
            outcome.found, is_cut = self._finder.new()
        except Exception:  # noqa: BLE001  # figures draw what the code has made
            is_cut = True
        if is_cut:
            outcome.truncated.append("artefacts")
        if outcome.out_of_memory:
            gc.collect()
            outcome.exhausted = _resident_bytes() > self._order.limits.memory_bytes // 2


def live(order: Order, line: int, refused: Exception | None) -> None:
    """An interpreter's life, in its process."""
    ours = Line(line)
    if refused is not None:
        ours.send(Kind.READY, Ready(cut(str(refused), TEXT_BYTES)[0]))
        return
    for name in order.preload:  # imported by now, unless that must not be forked
        importlib.import_module(name)
    for name in OWN:
        os.environ.pop(name, None)  # noqa: TID251  # what the code will see
    sys.argv = [""]
    sys.path[:] = ["", *filter(_is_shown, sys.path)]
    os._exit(_life(Worker(order, ours)))


def _life(worker: Worker) -> int:
    """Lives; the exit code. What goes wrong here, the code has done, and gets no explanation."""
    try:
        worker.live()
    except EOFError:
        return 0
    except MemoryError:
        return 128 + signal.SIGKILL
    except BaseException:  # noqa: BLE001  # it may have done anything
        return 1


def _seed(seed: int) -> None:
    """Seeds the global random generators, numpy's where it has been imported for all."""
    random.seed(seed)
    if "numpy" in sys.modules:
        importlib.import_module("numpy.random").seed(seed % (1 << 32))


def _is_shown(entry: str) -> bool:
    try:
        os.scandir(entry or "/nowhere").close()
    except OSError:
        return False
    return True


def _kept(descriptor: int) -> int:
    kept = os.dup(descriptor)
    os.set_inheritable(kept, False)
    return kept


def _writer(descriptor: int) -> io.TextIOWrapper:
    """Writes at once: what is printed must be there when the process is killed."""
    raw = open(descriptor, "wb", buffering=0, closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)


def _fault(error: BaseException) -> Fault | None:
    try:
        return fault_of(error)
    except BaseException:  # noqa: BLE001  # the code's own classes
        return Fault(type(error).__name__[:TEXT_BYTES], "", None, "")


def _resident_bytes() -> float:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # then there is want of more than memory
        return math.inf
