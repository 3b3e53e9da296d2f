"""The installed version."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    for distribution in ("openenv-core", "openenv"):
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return "0.0.0"


__version__ = _installed()
