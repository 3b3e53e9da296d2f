"""Global random generators, borrowed for a moment."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textarena_env.server.bound import bounded

_lock = threading.Lock()


class Streams:
    """The state that Python's and NumPy's global generators have in one game.

    TextArena's games draw from the generators that all of a process share. So each game has a state
    of its own, which is put into them while it plays, and taken out again.
    """

    def __init__(self, seed: int) -> None:
        self._python = random.Random(seed).getstate()
        self._numpy: Any = None
        self._seed = seed

    @contextmanager
    def borrowed(self, seconds: float) -> Iterator[None]:
        """Plays its block with this game's state, one block of the process at a time.

        Args:
            seconds: how long it may take; the other games wait meanwhile.

        Raises:
            TooLong: the block did not end in time.
        """
        with _lock:
            before = _exchange((self._python, self._numpy), self._seed)
            try:
                with bounded(seconds):
                    yield
            finally:
                self._python, self._numpy = _exchange(before, self._seed)


def _exchange(state: tuple[Any, Any], seed: int) -> tuple[Any, Any]:
    """Puts a state into the global generators; what was in them."""
    python, numpy = state
    before = random.getstate()
    random.setstate(python)
    loaded = sys.modules.get("numpy")
    if loaded is None:
        return before, None
    numpy_before = loaded.random.get_state()
    fresh = loaded.random.RandomState(seed % (1 << 32)).get_state()
    loaded.random.set_state(fresh if numpy is None else numpy)
    return before, numpy_before
