"""OwnServer: a server that a client starts for itself, and stops."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from openenv.protocol.errors import (
    ConcurrentCall,
    ConfigurationError,
    ConnectFailed,
    ProviderError,
    SessionError,
    SessionGone,
    SessionLost,
)

if TYPE_CHECKING:
    from openenv.providers import Provider

ResultT = TypeVar("ResultT")
LAST_LINES = 20
"""How much of its server's log an error tells."""
ENDING_S = 1.0
"""How long a server may take to end whose connections broke."""

_log = logging.getLogger(__name__)


class Started(Protocol):
    """A server that was started, as `openenv.providers.Running` is one."""

    @property
    def url(self) -> str:
        """Where it answers."""

    @property
    def headers(self) -> Mapping[str, str]:
        """What requests to it need."""

    def logs(self, lines: int = ...) -> str:
        """The last lines that it wrote."""

    def problem(self) -> str | None:
        """Why it has ended; `None` while it lives, as far as is known."""

    def stop(self) -> None:
        """Stops it; nothing the second time."""


class OwnServer:
    """The server of one client: started when it is needed, stopped when the client is closed.

    It is also stopped when nobody holds it any more. A forked child uses its parent's server and
    never stops it.

    Args:
        launch: starts a server and waits until it is healthy.
        running: one that runs already.

    Attributes:
        was_reached: the client has had a session in it; one without is stopped, not kept.
    """

    def __init__(self, launch: Callable[[], Started], running: Started | None = None) -> None:
        self._launch = launch
        self.was_reached = False
        self._running: Started | None = None
        self._dropped: weakref.finalize[..., OwnServer] | None = None
        self._pid = os.getpid()
        if running is not None:
            self._take(running)

    @classmethod
    def of(cls, provider: Any, base_url: str | None = None) -> OwnServer:
        """What a provider starts that knows itself what that is, or has started at an address.

        Raises:
            ConfigurationError: it is no provider, or cannot stop what it has started.
        """
        from openenv.providers import Launch, as_provider

        found = as_provider(provider)
        return cls(
            lambda: found.launch(Launch(**patience(found))),
            None if base_url is None else _StartedElsewhere(provider, base_url),
        )

    @property
    def running(self) -> Started | None:
        """The server, while there is one."""
        return self._running

    def start(self, *, resuming: bool = False) -> Started:
        """Starts it unless it runs.

        Args:
            resuming: somebody comes back to a session in it: it must be the same server.

        Raises:
            ProviderError: it could not be started; nothing is left of it.
            SessionGone: it has ended, and its sessions with it. Nothing is left of it.
        """
        return self._take(self._started(resuming))

    async def astart(self, *, resuming: bool = False) -> Started:
        """The same off the event loop. What was begun is undone there when this is cancelled."""
        starting = _elsewhere(lambda: self._started(resuming))
        try:
            return self._take(await asyncio.wrap_future(starting))
        except (asyncio.CancelledError, GeneratorExit):
            _elsewhere(lambda: self._undo(starting))
            raise

    def stop(self) -> None:
        """Stops it; nothing if there is none.

        Raises:
            ProviderError: it could not be stopped. It can be tried again.
        """
        if self._running is not None and os.getpid() == self._pid:
            self._running.stop()
        self._running, self.was_reached = None, False
        if self._dropped is not None:
            self._dropped.detach()

    async def astop(self) -> None:
        """The same off the event loop."""
        if self._running is not None:
            await asyncio.shield(asyncio.wrap_future(_elsewhere(self.stop)))

    def failed(self, error: BaseException, *, held: bool = False) -> None:
        """A call has ended in an error, and its client has no session.

        The error is told the last lines of a server that has ended. A server that the client has
        never had a session in is stopped.

        Args:
            error: that of the call.
            held: the client had a session before the call: the server may be ending just now.
        """
        running = self._running
        if running is None or isinstance(error, ConcurrentCall):
            return
        patience_s = ENDING_S if held or not self.was_reached else 0.0
        if isinstance(error, ConnectFailed | SessionLost) and _problem(running, patience_s):
            _tell(error, running)
        if not self.was_reached:
            with suppress(ProviderError):  # the first error is the one to tell
                self.stop()

    async def afailed(self, error: BaseException, *, held: bool = False) -> None:
        """The same off the event loop."""
        if self._running is not None:
            telling = _elsewhere(lambda: self.failed(error, held=held))
            if not isinstance(error, GeneratorExit):  # a coroutine that is closed awaits no more
                await asyncio.shield(asyncio.wrap_future(telling))

    def _started(self, resuming: bool) -> Started:
        running = self._running
        if running is None:
            return self._launch()
        problem = _problem(running)
        if problem is None:
            return running
        if not resuming:
            self.stop()
            return self._launch()
        gone = SessionGone(
            f"the server that this client started has ended: {problem}; reset() starts another"
        )
        _tell(gone, running)
        self.stop()
        raise gone

    def _take(self, running: Started) -> Started:
        if running is not self._running:
            self._running, self._pid = running, os.getpid()
            self._dropped = weakref.finalize(self, _stop_dropped, running, self._pid)
            self._dropped.atexit = False  # that is the providers' own business
        return running

    def _undo(self, starting: Future[Started]) -> None:
        with suppress(Exception):  # it was not started: there is nothing to undo
            running = starting.result()
            if running is not self._running:
                running.stop()


def patience(provider: Provider) -> dict[str, Any]:
    """How long a start may take, where its provider was made with an opinion on that."""
    said: float | None = getattr(provider, "context_timeout_s", None)
    return {} if said is None else {"ready_timeout_s": said}


class _StartedElsewhere:
    """What a provider has started before there was a client."""

    headers: Mapping[str, str] = {}

    def __init__(self, provider: Any, url: str) -> None:
        stop = getattr(provider, "stop_container", None) or getattr(provider, "stop", None)
        if stop is None:
            raise ConfigurationError(
                f"{type(provider).__name__} cannot stop what answers at {url}: pass base_url or "
                "provider, not both"
            )
        self.url = url
        self._stop: Callable[[], None] = stop

    def stop(self) -> None:
        """Stops it; nothing the second time, if its provider does so."""
        from openenv.providers.provider import typed_errors

        with typed_errors():
            self._stop()

    def logs(self, lines: int = LAST_LINES) -> str:
        """None that could be had."""
        return ""

    def problem(self) -> str | None:
        """None that is known."""
        return None


def _problem(running: Started, patience_s: float = 0.0) -> str | None:
    """Why a server has ended; `None` if it has not, or that can't be told.

    Args:
        running: the server.
        patience_s: how long it may take to end whose connections broke, in seconds.
    """
    deadline = time.monotonic() + patience_s
    while True:
        with suppress(ProviderError):
            if problem := running.problem():
                return problem
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.05)


def _tell(error: ConnectFailed | SessionError, running: Started) -> None:
    """Adds the end of a server's log to an error, once."""
    lines = ""
    with suppress(ProviderError):
        lines = running.logs(LAST_LINES).strip()
    if not lines or lines in str(error):
        return
    if isinstance(error, SessionError):
        error.message += f"\nThe end of its log:\n{lines}\n"
    else:
        error.args = (f"{error}\nThe end of the server's log:\n{lines}",)


def _stop_dropped(running: Started, pid: int) -> None:
    """Stops a server that nobody holds any more, without holding up who happens to notice."""
    if os.getpid() != pid:
        return

    def stop() -> None:
        try:
            running.stop()
        except ProviderError as error:
            _log.warning("a server that nobody held any more could not be stopped: %s", error)

    try:
        threading.Thread(target=stop, name="openenv-stop").start()
    except RuntimeError:  # Python is ending and begins no thread
        stop()


def _elsewhere(call: Callable[[], ResultT]) -> Future[ResultT]:
    """Makes a call in a thread of its own, which does not keep Python from ending."""
    outcome: Future[ResultT] = Future()
    outcome.set_running_or_notify_cancel()

    def make() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # noqa: BLE001  # raised by whoever waits for it
            outcome.set_exception(error)

    threading.Thread(target=make, name="openenv-provider", daemon=True).start()
    return outcome
