"""Work that may take for ever, and is given so much time."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

AGAIN_S = 0.1
TRIES = 100


def within(seconds: float, work: Callable[[], float]) -> float:
    """What a piece of work gives, which is done in a thread that can be ended.

    It is ended between two instructions of Python. A single one that takes for ever is not; what
    ends that is the server, which ends the session's process.

    Args:
        seconds: how long it may take.
        work: what is done. It holds nothing that would have to be given back.

    Raises:
        TimeoutError: it took longer.
        ValueError: it ended its thread.
        Exception: whatever the work raises.
    """
    given: list[float] = []
    raised: list[Exception] = []

    def do() -> None:
        try:
            given.append(work())
        except Exception as error:  # noqa: BLE001  # raised again in the caller
            raised.append(error)

    worker = threading.Thread(target=do, name="openenv-scorer", daemon=True)
    worker.start()
    worker.join(seconds)
    if worker.is_alive():
        _end(worker)
        raise TimeoutError(f"it took longer than {seconds:g} s")
    if raised:
        raise raised[0]
    if not given:
        raise ValueError("it came to no end")
    return given[0]


def _end(worker: threading.Thread) -> None:
    """Raises `SystemExit` in a thread until it ends: some code catches everything, now and then."""
    for _ in range(TRIES):
        if not worker.is_alive():
            return
        ident = ctypes.c_ulong(worker.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(SystemExit))
        worker.join(AGAIN_S)
