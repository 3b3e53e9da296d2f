"""Consoles that nobody plays on, kept for whoever plays next."""

from __future__ import annotations

from collections import deque
from threading import Lock

from atari_env.console import Console
from atari_env.options import AtariOptions

MOST = 8
"""As many consoles are kept, of 0.7 MB each; of more, those that came first go."""


class Shelf:
    """Where sessions leave their consoles, and find one with their cartridge in it.

    Several threads may use it at once.
    """

    def __init__(self) -> None:
        self._consoles: deque[Console] = deque(maxlen=MOST)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._consoles)

    def take(self, options: AtariOptions, seed: int) -> Console:
        """A console that is the caller's alone: one from here that fits, or a new one.

        Raises:
            InvalidRequest: the game does not have that mode or difficulty.
        """
        with self._lock:
            for console in self._consoles:
                if console.fits(options, seed):
                    self._consoles.remove(console)
                    return console
        return Console(options, seed)

    def put(self, console: Console) -> None:
        """Leaves a console here. Whoever does plays on it no longer."""
        with self._lock:
            self._consoles.append(console)


SHELF = Shelf()
"""The one of this process."""
