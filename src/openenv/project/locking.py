"""`uv.lock`: the exact versions of a package's dependencies."""

from __future__ import annotations

from pathlib import Path

from openenv.providers.command import run

LOCK_S = 120.0


def lock(project: Path) -> None:
    """Writes a package's `uv.lock`.

    Raises:
        NotAvailable: there is no `uv` on this machine.
        ProviderError: it failed, or took longer than two minutes.
    """
    run(["uv", "lock", "--directory", str(project)], timeout_s=LOCK_S)
