"""What a verifier raises that would end more than itself, as an exception like others."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable
from typing import TypeVar

ResultT = TypeVar("ResultT")


ENDINGS = (SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit)
"""What a call that does not await raises of itself alone, unless somebody pressed Ctrl-C."""


class Ended(RuntimeError):
    """A verifier tried to end the program, as `sys.exit()` does, or its task."""


async def contained(pending: Awaitable[ResultT]) -> ResultT:
    """What an awaitable gives. In a task, more than an exit would end the event loop.

    Raises:
        Ended: it called `sys.exit()`, or was cancelled, or interrupted, by itself.
    """
    try:
        return await pending
    except (SystemExit, KeyboardInterrupt) as end:
        if is_ctrl_c(end):
            raise
        raise ended(end) from end
    except asyncio.CancelledError as end:
        if _is_cancelled():
            raise
        raise Ended("it was cancelled from within") from end


def ended(end: BaseException) -> Ended:
    """What it is to whoever asked a verifier that this raised one of `ENDINGS`."""
    if isinstance(end, SystemExit):
        return Ended(f"it called sys.exit({end.code!r})")
    return Ended(f"it raised {type(end).__name__}")


def is_ctrl_c(end: BaseException) -> bool:
    """Whether somebody wants the program to end: servers have other handlers for that."""
    return (
        isinstance(end, KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


def _is_cancelled() -> bool:
    """Whether somebody cancels this task; before Python 3.11 a task cannot say, and so it is."""
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0
