"""What a piece of code leaves to be looked at: matplotlib's figures, and files."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator

from openenv.executor.wire import Found

MOST_ENTRIES = 1000
"""How many files and directories are looked at."""

_Stamp = tuple[int, int, int]


class Finder:
    """Finds what is new since it was last asked.

    Hidden files and what is in hidden directories are nobody's work.

    Args:
        home: the working directory.
        most: how many figures and files are given back at once.
        most_bytes: of these together.
    """

    def __init__(self, home: str, most: int, most_bytes: int) -> None:
        self._home = home
        self._most = most
        self._most_bytes = most_bytes
        self._known: dict[str, _Stamp] = {}
        self._figures = 0

    def new(self) -> tuple[list[Found], bool]:
        """Figures, then files, and whether those are not all."""
        found: list[Found] = []
        left, is_cut = self._most_bytes, False
        for each in (*self._drawn(), *self._files(left)):
            if len(found) < self._most and len(each.content) <= left:
                found.append(each)
                left -= len(each.content)
            else:
                is_cut = True
        return found, is_cut

    def _drawn(self) -> Iterator[Found]:
        """Figures that are open, which are closed; their numbers go on from run to run."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            picture = io.BytesIO()
            pyplot.figure(number).savefig(picture, format="png")
            self._figures += 1
            yield Found(f"figure-{self._figures}.png", picture.getvalue())
        pyplot.close("all")

    def _files(self, most_bytes: int) -> Iterator[Found]:
        """Those that were written since; of one that is too large, so much that this is seen."""
        known = dict(_stamps(self._home))
        changed = [path for path, stamp in known.items() if self._known.get(path) != stamp]
        self._known = known
        for path in changed[: self._most + 1]:
            content = _read(path, most_bytes + 1)
            if content is not None:
                name = os.path.relpath(path, self._home)
                yield Found(name.encode(errors="backslashreplace").decode()[:255], content)


def _stamps(home: str) -> Iterator[tuple[str, _Stamp]]:
    left, todo = MOST_ENTRIES, [home]
    while todo:
        try:
            entries = sorted(os.scandir(todo.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries[:left]:
            left -= 1
            if entry.name.startswith(".") or entry.name == "__pycache__":
                continue
            if entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
            elif entry.is_file(follow_symlinks=False):
                told = entry.stat(follow_symlinks=False)
                yield entry.path, (told.st_ino, told.st_size, told.st_mtime_ns)


def _read(path: str, most: int) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        return file.read(most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
