"""How the end of a process is seen, and that of those it has started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Watch(asyncio.SubprocessProtocol):
    """Sees a process end. What it has started ends too, unless that left its group.

    At once: later, the process's id may be that of another.

    Args:
        ended: told the exit code.
    """

    def __init__(self, ended: Callable[[int], None]) -> None:
        self._ended = ended
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:  # uvloop's are none of asyncio's classes
        """The process runs."""
        self._transport = transport

    def process_exited(self) -> None:
        """The process has died."""
        kill_group(self._transport.get_pid())
        self._ended(self._transport.get_returncode())
        self._transport.close()


def kill_group(pid: int) -> None:
    """Kills a process that leads a group, and all in it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
