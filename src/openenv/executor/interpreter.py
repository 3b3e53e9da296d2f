"""Interpreter: the process that runs code, as its executor sees it."""

from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from openenv.runtime.offspring import Death, Newborn

NATURAL_END_S = 0.5
"""How long what has closed its socket may take to die of itself, which tells why it did."""
NEWS_S = 10.0
"""How long the news of a death may take."""


class Interpreter(Newborn):
    """A process with a socket and two pipes, all of which are read here.

    Born on an event loop, used by any one thread, `kill` and `died` by all.

    Attributes:
        line: the socket.
        stdout: what it prints, a pipe.
        stderr: likewise.
        poll: of these three.
        runs: how many pieces of code it has been given.
        death: how it has ended, `None` as long as that is not known.
    """

    def __init__(self) -> None:
        self.runs = 0
        self.death: Death | None = None
        self._dead = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._kill: Callable[[], None] | None = None
        self.line, self._its_line = socket.socketpair()
        self._pipes: list[int] = []
        try:
            self._pipes += (*os.pipe(), *os.pipe())
        except OSError:
            self.close()
            raise
        self.stdout, _, self.stderr, _ = self._pipes
        self.poll = select.poll()
        self.line.setblocking(False)
        for descriptor in (self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        for descriptor in (self.line.fileno(), self.stdout, self.stderr):
            self.poll.register(descriptor, select.POLLIN)

    @property
    def descriptors(self) -> Sequence[int]:
        """The other ends."""
        _, stdout, _, stderr = self._pipes
        return self._its_line.fileno(), stdout, stderr

    async def open(self) -> None:
        """Closes the other ends, for the child has them."""
        self._loop = asyncio.get_running_loop()
        self._its_line.close()
        for end in (self._pipes.pop(3), self._pipes.pop(1)):
            os.close(end)

    def born(self, kill: Callable[[], None]) -> None:
        """It runs; `kill` is for the loop's thread."""
        self._kill = kill

    def died(self, death: Death) -> None:
        """It has ended: whoever waits for its answer sees the end of the socket."""
        self.death = death
        self._dead.set()
        with suppress(OSError):
            self.line.shutdown(socket.SHUT_RDWR)

    def kill(self) -> None:
        """Ends it, and all that it has started."""
        if self._loop is not None and self._kill is not None and self.death is None:
            with suppress(RuntimeError):  # the loop is closed, and with it every process
                self._loop.call_soon_threadsafe(self._kill)

    def end(self, *, naturally: bool = False) -> Death | None:
        """Waits for its end, which it is brought to.

        Args:
            naturally: it has closed its socket, and may be about to die anyway.

        Returns:
            How it ended, `None` if that is not known in time.
        """
        if not (naturally and self._dead.wait(NATURAL_END_S)):
            self.kill()
            if self._kill is not None:
                self._dead.wait(NEWS_S)
        return self.death

    def close(self) -> None:
        """Gives up the socket and the pipes."""
        self.line.close()
        self._its_line.close()
        while self._pipes:
            os.close(self._pipes.pop())
