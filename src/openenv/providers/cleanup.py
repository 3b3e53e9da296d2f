"""What is left running when Python ends is stopped then: at its end, on SIGTERM and on SIGHUP.

Ctrl-C ends Python in the usual way. What outlives `kill -9` is found by its owner's labels, see
`openenv.providers.owner`, or ends by itself, see `openenv.providers.keeper`.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

from openenv.protocol.errors import ProviderError
from openenv.providers.command import finish_all

if TYPE_CHECKING:
    from openenv.providers.provider import Running

_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
PATIENCE_S = 60.0
FINISH_S = 30.0
"""How long what is being made may take to be made: then it can be removed."""
_log = logging.getLogger(__name__)
_running: dict[int, Running] = {}  # strong: who drops a server without stopping it has left it over


def remember(running: Running) -> None:
    """Stops this server when Python ends, unless it is forgotten before."""
    _running[id(running)] = running
    arm()


def forget(running: Running) -> None:
    """It has been stopped."""
    _running.pop(id(running), None)


def arm() -> None:
    """Sees to SIGTERM and SIGHUP, where nobody else does; only a main thread can."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _ENDINGS:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _on_signal)


def stop_all() -> None:
    """Stops every server that is left, whatever happens to one of them, for a minute at most."""
    finish_all(FINISH_S)
    deadline = time.monotonic() + PATIENCE_S
    for running in list(_running.values()):
        if time.monotonic() > deadline:
            _log.warning("stopping servers takes too long; what is left ends later, or is reaped")
            return
        try:
            running.stop()
        except ProviderError as error:
            _log.warning("a server could not be stopped at the end: %s", error)


def _on_signal(number: int, _frame: FrameType | None) -> None:
    """Stops what is left, and lets the signal do what it would have done."""
    stop_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


arm()  # what is started in another thread later could not
atexit.register(stop_all)
if hasattr(
    os, "register_at_fork"
):  # a forked child's end is not the end of what its parent started
    os.register_at_fork(after_in_child=_running.clear)
