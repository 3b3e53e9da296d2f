"""Keeper: one thread that tends every idle blocking connection of this process."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

INTERVAL_S = 0.25
"""How often idle connections are looked after; servers wait longer for a pong."""


class Kept(Protocol):
    """What can be looked after."""

    def tend(self) -> bool:
        """Does what is due; `False` when there is nothing left to look after."""


class _Keeper:
    def __init__(self) -> None:
        self.start_afresh()
        if hasattr(os, "register_at_fork"):  # the parent's connections are not the child's to read
            os.register_at_fork(after_in_child=self.start_afresh)

    def start_afresh(self) -> None:
        """Forgets every connection, and the thread."""
        self._lock = threading.Lock()
        self._kept: weakref.WeakSet[Kept] = weakref.WeakSet()
        self._thread: threading.Thread | None = None

    def keep(self, kept: Kept) -> None:
        with self._lock:
            self._kept.add(kept)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="openenv-keeper", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        pause = threading.Event()
        while not pause.wait(INTERVAL_S):
            self._round()
            with self._lock:
                if not self._kept:
                    self._thread = None
                    return

    def _round(self) -> None:
        """Tends each connection; none is held between rounds, or it could never be given up."""
        with self._lock:
            all_kept = list(self._kept)
        while all_kept:
            kept = all_kept.pop()
            if not kept.tend():
                self._kept.discard(kept)


_keeper = _Keeper()
keep = _keeper.keep
"""Looks after a connection for as long as somebody holds it."""
