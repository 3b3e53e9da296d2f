"""The end of what a process writes, read as it is written, so that nobody waits for a full pipe."""

from __future__ import annotations

import io
import re
import threading

KEPT_BYTES = 128 * 1024
CHUNK_BYTES = 8192


class Tail:
    """Reads a pipe to its end in a thread of its own, and keeps the end of what came.

    Args:
        pipe: closed at its end.
        wanted: the first group of what it matches first is kept as `found`.

    Attributes:
        found: see `wanted`; `None` until then.
        ended: whether the pipe has ended.
    """

    def __init__(self, pipe: io.BufferedReader, wanted: re.Pattern[bytes]) -> None:
        self._pipe = pipe
        self._wanted = wanted
        self._kept = b""
        self._changed = threading.Condition()
        self.found: str | None = None
        self.ended = False
        self._thread = threading.Thread(target=self._read, name="openenv-tail", daemon=True)
        self._thread.start()

    def text(self, lines: int) -> str:
        """The last lines."""
        kept = self._kept.decode(errors="replace").splitlines(keepends=True)
        return "".join(kept[-lines:] if lines > 0 else [])

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
            while chunk := self._pipe.read1(CHUNK_BYTES):
                self._take(chunk)
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _take(self, chunk: bytes) -> None:
        self._kept = (self._kept + chunk)[-KEPT_BYTES:]
        if self.found is None and (match := self._wanted.search(self._kept)):
            with self._changed:
                self.found = match.group(1).decode()
                self._changed.notify_all()
