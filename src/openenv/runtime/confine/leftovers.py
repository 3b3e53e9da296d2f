"""What a process that was killed could not put away: it has a name by which others find it."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from contextlib import suppress

from openenv.runtime.confine.cgroups import hierarchies, kill_all_in

_NAME = re.compile(r"openenv-session-(\d+)-[0-9a-f]+")


class Names:
    """Names of what belongs to this process.

    Attributes:
        owner: its pid, as other processes know it; 0 until it is asked for.
    """

    owner = 0

    @classmethod
    def claim(cls) -> None:
        """Names what is made from now on after this process, also when it goes on in a child."""
        cls.owner = os.getpid()

    @classmethod
    def new(cls) -> str:
        """One that nothing has."""
        return f"openenv-session-{cls.owner or os.getpid()}-{secrets.token_hex(6)}"


def sweep() -> None:
    """Removes the groups and directories whose owner has died, and kills what is left in them."""
    for path in _abandoned(tempfile.gettempdir()):
        shutil.rmtree(path, ignore_errors=True)
    for hierarchy in hierarchies():
        for path in _abandoned(hierarchy.parent):
            with suppress(OSError):  # what is in it is still dying: the next time, then
                kill_all_in(path)
                os.rmdir(path)


def _abandoned(directory: str) -> list[str]:
    with suppress(OSError):
        return [
            entry.path
            for entry in os.scandir(directory)
            if (match := _NAME.fullmatch(entry.name)) and not os.path.exists(f"/proc/{match[1]}")
        ]
    return []
