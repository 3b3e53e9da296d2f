"""What of the host's files a session sees, and where."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
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
    """

    places: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


def layout_of(confinement: Confinement) -> Layout:
    """What a session sees: the system's programs, this Python, and what was declared."""
    return _layout(confinement.readable, confinement.shares_network)


@lru_cache(maxsize=64)
def _layout(readable: tuple[str, ...], network: bool) -> Layout:
    settings = SETTINGS + (NETWORK_SETTINGS if network else ())
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    paths = [*SYSTEM, *(f"/etc/{name}" for name in settings), *prefixes, *readable]
    real = {path: os.path.realpath(path) for path in paths if os.path.exists(path)}
    links = {path: target for path, target in real.items() if path != target}
    return Layout(tuple(_outermost(real.values())), tuple(sorted(links.items())))


def _outermost(paths: Iterable[str]) -> Iterable[str]:
    """Those that are not within others."""
    last = None
    for path in sorted(set(paths), key=lambda path: path.split("/")):
        if last is None or os.path.commonpath([path, last]) != last:
            last = path
            yield path
