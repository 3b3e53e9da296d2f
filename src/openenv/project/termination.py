"""SIGTERM as an exception, so that what a command has begun is cleared away as after Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def unwinding() -> Iterator[None]:
    """Inside, SIGTERM ends the program by way of every `finally`, with the shell's code for it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
