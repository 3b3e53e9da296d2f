"""Directories for as long as a server runs; those of killed programs are removed by the next."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from openenv.providers import owner

PREFIX = "openenv-launch-"
NOTE = "owner.json"


def make() -> Path:
    """A new directory, which has a note of who owns it."""
    sweep()
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    (directory / NOTE).write_text(json.dumps(owner.labels()), encoding="utf-8")
    return directory


def remove(directory: Path) -> None:
    """Removes one, as far as it can be."""
    shutil.rmtree(directory, ignore_errors=True)


def sweep() -> None:
    """Removes those of this user whose owner is dead."""
    for note in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{NOTE}"):
        with suppress(OSError, ValueError, TypeError):  # gone by now, or not written yet
            if note.lstat().st_uid != os.getuid():
                continue  # anybody may write what they like there, or a pipe that never ends
            if owner.is_dead(json.loads(note.read_text(encoding="utf-8"))):
                remove(note.parent)
