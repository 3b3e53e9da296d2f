"""What of the host's files a session sees, and where."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from openenv.runtime.confine.confinement import Confinement

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS = (
    *("alternatives", "ca-certificates", "fonts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("localtime", "magic", "mime.types", "nsswitch.conf", "pki", "protocols", "services"),
    *("ssl", "timezone"),
)
"""What programs need of /etc, and what tells nothing of anybody."""
NETWORK_SETTINGS = ("gai.conf", "host.conf", "hosts", "resolv.conf")


@dataclass(frozen=True)
class Layout:
    """What is shown.

    Attributes:
        places: files and directories, as real paths, none within another.
        links: symbolic links, each with the real path that it leads to.
        concealed: what is not, within those places.
    """

    places: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    concealed: tuple[str, ...]

    def allowed(self) -> tuple[tuple[str, bool], ...]:
        """Paths that hold what is shown alone; of those that are marked, only the list of names.

        For who can allow but not except: what is new in a directory that is marked is not shown.
        """
        return _apart(self.places, self.concealed)


def layout_of(confinement: Confinement) -> Layout:
    """What a session sees: the system's programs, this Python, and what was declared."""
    return _layout(confinement.readable, confinement.concealed, confinement.shares_network)


@lru_cache(maxsize=64)
def _layout(readable: tuple[str, ...], concealed: tuple[str, ...], network: bool) -> Layout:
    settings = SETTINGS + (NETWORK_SETTINGS if network else ())
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    paths = [*SYSTEM, *(f"/etc/{name}" for name in settings), *prefixes, *readable]
    real = {path: os.path.realpath(path) for path in paths if os.path.exists(path)}
    links = {path: target for path, target in real.items() if path != target}
    places = tuple(_outermost(real.values()))
    return Layout(places, tuple(sorted(links.items())), tuple(_outermost(concealed)))


@lru_cache(maxsize=64)
def _apart(places: tuple[str, ...], concealed: tuple[str, ...]) -> tuple[tuple[str, bool], ...]:
    hidden = set(concealed)
    above = {parent for path in concealed for parent in _parents(path)}
    todo = list(places)
    allowed: list[tuple[str, bool]] = []
    while todo:
        path = todo.pop()
        if path in hidden or os.path.islink(path):  # what a link leads to is shown for itself
            continue
        allowed.append((path, path in above))
        if path in above:
            with suppress(OSError):
                todo += [os.path.join(path, name) for name in os.listdir(path)]
    return tuple(allowed)


def _parents(path: str) -> Iterable[str]:
    while path != "/":
        path = os.path.dirname(path)
        yield path


def _outermost(paths: Iterable[str]) -> Iterable[str]:
    """Those that are not within others."""
    last = None
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if last is None or os.path.commonpath([path, last]) != last:
            last = path
            yield path
