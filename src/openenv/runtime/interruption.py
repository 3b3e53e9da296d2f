"""Interruption: ending a call that runs in another thread, where Python lets one."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")


_COMES_WITHIN = 1000
"""Jumps of Python's after which an exception of another thread's has come."""


class Interrupted(BaseException):
    """The running call is given up. It is no `Exception`, so that few handlers swallow it."""


class Interruptible:
    """Makes calls in the calling thread, which another thread may interrupt.

    A call is interrupted between two of Python's instructions: one that waits in a library, or
    sleeps, ends only after that.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._whose: object = None
        self._is_struck = False

    def run(self, call: Callable[[], ResultT], whose: object = None) -> ResultT:
        """Makes a call.

        Args:
            call: the call.
            whose: what `interrupt` must name to mean this call.

        Raises:
            Interrupted: it was interrupted.
        """
        try:
            try:
                with self._lock:
                    self._thread, self._whose = threading.get_ident(), whose
                return call()
            finally:
                self._leave()
        except Interrupted:  # it may have come on the way out
            self._leave()
            raise

    def interrupt(self, whose: object = None) -> None:
        """Interrupts the call, if there is one and it is this one's."""
        with self._lock:
            if self._thread is not None and self._whose is whose:
                self._is_struck = True
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread), ctypes.py_object(Interrupted)
                )

    def _leave(self) -> None:
        """Lets nothing come after this. What is on its way is let come: it cannot be taken back.

        (To set no exception in its place leaves Python's interpreter looking for one for ever.)
        """
        while True:
            try:
                with self._lock:
                    self._thread = None
                    struck, self._is_struck = self._is_struck, False
                for _ in range(_COMES_WITHIN if struck else 0):
                    pass
                return
            except Interrupted:
                continue
