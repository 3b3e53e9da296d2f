"""The end of what a process writes, read as it is written, so that nobody waits for a full pipe."""

from __future__ import annotations

import re
import threading
from collections import deque
from typing import IO

KEPT_LINES = 500
LINE_BYTES = 4096


class Tail:
    """Reads a pipe to its end in a thread of its own, and keeps the last lines.

    Args:
        pipe: closed at its end.
        wanted: the first group of what it matches first is kept as `found`.

    Attributes:
        found: see `wanted`; `None` until then.
        ended: whether the pipe has ended.
    """

    def __init__(self, pipe: IO[bytes], wanted: re.Pattern[str]) -> None:
        self._pipe = pipe
        self._wanted = wanted
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._changed = threading.Condition()
        self.ended = False
        self.found: str | None = None
        self._thread = threading.Thread(target=self._read, name="openenv-tail", daemon=True)
        self._thread.start()

    def text(self, lines: int) -> str:
        """The last lines."""
        with self._changed:
            return "".join(list(self._lines)[-lines:] if lines > 0 else [])

    def wait(self, timeout_s: float) -> str | None:
        """Waits until something wanted has come; `None` if it has not in time, or cannot."""
        with self._changed:
            self._changed.wait_for(lambda: self.found is not None or self.ended, timeout_s)
            return self.found

    def join(self, timeout_s: float) -> None:
        """Waits until all is read."""
        self._thread.join(timeout_s)

    def _read(self) -> None:
        with self._pipe:
            while line := self._pipe.readline(LINE_BYTES):
                self._take(line.decode(errors="replace"))
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _take(self, line: str) -> None:
        with self._changed:
            self._lines.append(line)
            match = None if self.found is not None else self._wanted.search(line)
            if match:
                self.found = match.group(1)
                self._changed.notify_all()
