"""Ear: hears, in the process of a session, that the running call is given up."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from openenv.runtime.interruption import Interrupted
from openenv.runtime.pipe import INTERRUPT, sized

ResultT = TypeVar("ResultT")
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
        self._may_strike = False
        self._came_early = False
        self._main = threading.get_ident()
        signal.signal(SIGNAL, self._heard)

    def during(self, call: Callable[[], ResultT]) -> ResultT:
        """Makes a call that ends when the word comes.

        Raises:
            Interrupted: the word came. Nothing comes after that, or after the call's own end.
        """
        self._came_early = False
        over, end = os.pipe()
        listener = threading.Thread(
            target=self._listen, args=(over,), name="openenv-ear", daemon=True
        )
        try:
            listener.start()
            try:
                self._may_strike = True
                if self._came_early:
                    raise Interrupted
                return call()
            finally:
                self._may_strike = False
        finally:
            os.close(end)
            if listener.ident is not None:
                listener.join()
            os.close(over)

    def _listen(self, over: int) -> None:
        waiting = select.poll()  # which takes any descriptor
        waiting.register(self._line, select.POLLIN)
        waiting.register(over, select.POLLIN | select.POLLHUP)
        heard = [descriptor for descriptor, _ in waiting.poll()]
        if over not in heard and self._peek() == sized(INTERRUPT):
            signal.pthread_kill(self._main, SIGNAL)

    def _peek(self) -> bytes:
        line = socket.socket(fileno=self._line)
        try:
            return line.recv(16, socket.MSG_PEEK)
        finally:
            line.detach()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        """In the main thread, between two of its instructions."""
        if not self._may_strike:
            self._came_early = True
        elif not self._cancel():
            self._may_strike = False
            raise Interrupted
