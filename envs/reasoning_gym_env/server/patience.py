"""Work that may take for ever, and is given so much time."""

from __future__ import annotations

import os
import select
import signal
import struct
from collections.abc import Callable
from typing import NoReturn

RESULT = struct.Struct("d")


def within(seconds: float, work: Callable[[], float]) -> float:
    """What a piece of work gives, which is done in a forked process: that can always be ended.

    Args:
        seconds: how long it may take.
        work: what is done; nothing of it is seen here but the number that it gives.

    Raises:
        TimeoutError: it took longer.
        ValueError: it gave none.
    """
    reader, writer = os.pipe()
    try:
        if (child := os.fork()) == 0:
            _do(work, writer)
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    try:
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        if not poll.poll(seconds * 1000):
            raise TimeoutError(f"it took longer than {seconds:g} s")
        told = os.read(reader, RESULT.size)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if len(told) != RESULT.size:
        raise ValueError("it came to no end")
    return float(RESULT.unpack(told)[0])


def _do(work: Callable[[], float], writer: int) -> NoReturn:
    try:
        os.write(writer, RESULT.pack(work()))
    finally:
        os._exit(0)
