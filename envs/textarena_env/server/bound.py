"""A bound on code that may never end."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TooLong(Exception):
    """The block did not end in time."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Runs its block for so many seconds at most.

    Raises:
        TooLong: in the block, between two instructions of Python, once the time is up.
    """
    thread = ctypes.c_ulong(threading.get_ident())
    inside = threading.Lock()
    running = True

    def interrupt() -> None:
        with inside:
            if running:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TooLong))

    timer = threading.Timer(seconds, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with inside:
            running = False
        timer.cancel()
