"""What lies beside an environment's code and is not for its sessions: hidden files, credentials."""

from __future__ import annotations

import logging
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from openenv.credentials import is_secret_folder, is_secret_name

logger = logging.getLogger("openenv.sessions")

MOST_ENTRIES = 20_000
"""How many files and directories are looked at, those nearest to the top first."""
LIBRARIES = frozenset({"site-packages", "dist-packages", "node_modules", "__pycache__"})
"""Directories of what others have published, which are many and hold nobody's secrets."""
PYTHONS_OWN = os.path.dirname(os.path.realpath(os.__file__))
INSTALLED = ".dist-info"


def find_concealed(shown: Sequence[str]) -> tuple[str, ...]:
    """What in directories that sessions see must be kept from them, as real paths.

    Names with a leading dot, and those that credentials have; a directory stands for all that is
    in it. Never the way to what is shown itself, such as a virtual environment called `.venv`.

    Args:
        shown: the files and directories, those of installed libraries included.
    """
    search = _Search(shown)
    found = tuple(sorted(set(search.run())))
    if search.is_cut_short:
        logger.warning(
            "only %s files beside the environment's code were looked at: sessions see what hidden "
            "files and credentials there are further down; serve it from a smaller directory",
            MOST_ENTRIES,
        )
    return found


class _Search:
    """A walk from the tops of what is shown downward, level by level.

    What is concealed but for what is shown further in it, is a passage: the rest of it stays
    concealed.

    Attributes:
        is_cut_short: there was more than is looked at.
    """

    def __init__(self, shown: Sequence[str]) -> None:
        real = {os.path.realpath(path) for path in shown}
        self._roots = {path for path in real if not _is_library(path)}
        prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
        self._wanted = real | {os.path.realpath(prefix) for prefix in prefixes}
        self._todo = deque(sorted(path for path in self._roots if os.path.isdir(path)))
        self._passages: set[str] = set()
        self._left = MOST_ENTRIES
        self.is_cut_short = False

    def run(self) -> Iterator[str]:
        """Each path, some more than once."""
        searched: set[str] = set()
        while self._todo:
            directory = self._todo.popleft()
            if directory in searched:
                continue
            searched.add(directory)
            entries = self._entries(directory)
            flat = any(entry.name.endswith(INSTALLED) for entry in entries)
            for entry in entries:
                yield from self._look_at(entry, flat=flat)

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        found: list[os.DirEntry[str]] = []
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                if self._left == 0:
                    self.is_cut_short = True
                    break
                self._left -= 1
                found.append(entry)
        return found

    def _look_at(self, entry: os.DirEntry[str], *, flat: bool) -> Iterator[str]:
        """An entry's own path if it is concealed; else what is in it will be looked at.

        Args:
            entry: the entry.
            flat: whether its directory holds installed libraries.
        """
        if os.path.dirname(entry.path) in self._passages or _is_private(entry):
            real = os.path.realpath(entry.path)
            if self._is_shown(real) and not self._leads_to_wanted(real):
                yield real
                return
            if real not in self._wanted:
                self._passages.add(real)
        is_wanted = entry.path in self._wanted  # a root is searched for itself, a Python never
        is_open = not (flat or is_wanted or _is_library(entry.path))
        if is_open and entry.is_dir(follow_symlinks=False):
            self._todo.append(entry.path)

    def _is_shown(self, real: str) -> bool:
        return any(_is_within(real, root) and real != root for root in self._roots)

    def _leads_to_wanted(self, real: str) -> bool:
        return any(_is_within(wanted, real) for wanted in self._wanted)


def _is_private(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith("."):
        return True
    if os.path.isdir(entry.path):
        return is_secret_folder(Path(entry))
    return is_secret_name(entry.name)


def _is_library(path: str) -> bool:
    return os.path.basename(path) in LIBRARIES or _is_within(path, PYTHONS_OWN)


def _is_within(path: str, other: str) -> bool:
    return path == other or path.startswith(other.rstrip("/") + "/")
