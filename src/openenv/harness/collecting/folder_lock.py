"""One run at a time in a folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openenv.protocol.errors import OpenEnvError


class FolderBusy(OpenEnvError, RuntimeError):
    """Another run writes to a folder."""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keeps other runs out of a folder until the block ends, or the process.

    The system lets go of the lock of a process that was killed. There is none on Windows.

    Raises:
        FolderBusy: there is another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderBusy(
                f"another run writes to {folder}; wait until it is done, or give another folder"
            ) from error
        yield
