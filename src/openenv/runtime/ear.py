"""Ear: hears, in the process of a session, that the running call is given up."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType, TracebackType

from openenv.runtime.interruption import Interrupted
from openenv.runtime.pipe import INTERRUPT, sized

SIGNAL = signal.SIGUSR2
"""Wakes the main thread from whatever it waits in."""


class Ear:
    """Listens on the socket to the server while a call runs: nothing but one word can come then.

    Args:
        line: the socket's descriptor.
        cancel: cancels what is awaited, and says whether something was.
    """

    def __init__(self, line: int, cancel: Callable[[], bool]) -> None:
        self._line = line
        self._cancel = cancel
        self._listening = False
        self._main = threading.get_ident()
        signal.signal(SIGNAL, self._heard)

    def __enter__(self) -> None:
        """Begins to listen."""
        self._over, self._end = os.pipe()
        self._thread = threading.Thread(target=self._listen, name="openenv-ear", daemon=True)
        self._listening = True
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Ends listening."""
        self._listening = False
        os.close(self._end)
        self._thread.join()
        os.close(self._over)

    def _listen(self) -> None:
        heard, _, _ = select.select([self._line, self._over], [], [])
        if self._over not in heard and self._peek() == sized(INTERRUPT):
            signal.pthread_kill(self._main, SIGNAL)

    def _peek(self) -> bytes:
        line = socket.socket(fileno=self._line)
        try:
            return line.recv(16, socket.MSG_PEEK)
        finally:
            line.detach()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self._listening and not self._cancel():
            self._listening = False
            raise Interrupted
