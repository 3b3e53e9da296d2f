"""One run at a time in a folder, and one writer of a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from openenv.protocol.errors import OpenEnvError


class FolderBusy(OpenEnvError, RuntimeError):
    """Another run writes to a folder, or to a file."""


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
    with (folder / ".lock").open("w") as lock:
        hold(lock, f"another run writes to {folder}; wait until it is done, or give another folder")
        yield


def hold(file: IO[Any], busy: str) -> None:
    """Holds the lock of an open file until it is closed. There is none on Windows.

    Args:
        file: which.
        busy: the text of the error.

    Raises:
        FolderBusy: somebody else holds it.
    """
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise FolderBusy(busy) from error
