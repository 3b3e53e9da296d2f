"""Interruption: ending a call that runs in another thread, where Python lets one."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

ResultT = TypeVar("ResultT")


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

    def run(self, call: Callable[[], ResultT]) -> ResultT:
        """Makes a call.

        Raises:
            Interrupted: it was interrupted.
        """
        try:
            try:
                with self._lock:
                    self._thread = threading.get_ident()
                return call()
            finally:
                self._leave()
        except Interrupted:  # it may have come on the way out
            self._leave()
            raise

    def interrupt(self) -> None:
        """Interrupts the call, if there is one."""
        with self._lock:
            if self._thread is not None:
                _raise_in(self._thread, Interrupted)

    def _leave(self) -> None:
        while True:
            try:
                with self._lock:
                    self._thread = None
                    _raise_in(threading.get_ident(), None)  # takes back what has not come yet
                return
            except Interrupted:
                continue


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
