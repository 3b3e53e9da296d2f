"""Hosts: where an environment lives, and on which thread its calls run."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from openenv.env.environment import Environment
from openenv.env.own_rubric import with_own_rubric
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFactoryError, HostCrashed
from openenv.protocol.messages import Reply, Request
from openenv.protocol.saying import authors_traceback, text_of
from openenv.protocol.wire import ServerMode
from openenv.runtime.faults import contained
from openenv.runtime.limits import Limits
from openenv.runtime.session import Session
from openenv.runtime.worker import ToolThread, Worker

logger = logging.getLogger("openenv.session")

ResultT = TypeVar("ResultT")
SessionFactory = Callable[[], Session]


class Host(ABC):
    """A place for one environment. Its owner makes one call at a time."""

    @abstractmethod
    async def start(self) -> None:
        """Builds the environment.

        Raises:
            EnvironmentFactoryError: its constructor raised.
        """

    @abstractmethod
    def serve(self, request: Request) -> Reply | asyncio.Future[Reply]:
        """Answers a request: at once where no other thread or awaiting is needed."""

    @abstractmethod
    async def close(self) -> None:
        """Closes the environment and gives up the place, after the call that still runs."""

    def kill(self) -> bool:
        """Stops the running call for good and says whether it did; most places cannot."""
        return False

    @abstractmethod
    def interrupt(self) -> None:
        """Asks the running call to end; the environment lives on. It may take its time."""


def session_factory(
    spec: EnvSpec,
    *,
    tracebacks: bool,
    mode: ServerMode = ServerMode.SIMULATION,
    tool_timeout: float | None = Limits.tool_timeout,
) -> SessionFactory:
    """Builds sessions, with the typed error when the environment's constructor raises."""

    def make() -> Session:
        try:
            environment = with_own_rubric(contained(spec.make))
        except Exception as error:
            logger.warning(
                "%s could not be built\n%s", spec.name, authors_traceback(error).rstrip()
            )
            raise EnvironmentFactoryError(
                spec.name,
                f"Environment factory {spec.name!r} failed: {type(error).__name__}: "
                f"{text_of(error)}",
            ) from error
        if not isinstance(environment, Environment):
            raise EnvironmentFactoryError(
                spec.name,
                f"Environment factory {spec.name!r} must give an Environment, got "
                f"{type(environment).__name__}",
            )
        return Session(
            environment, spec, tracebacks=tracebacks, mode=mode, tool_timeout=tool_timeout
        )

    return make


class InlineHost(Host):
    """On the server's event loop: no hand-over, and awaited environments run side by side."""

    def __init__(self, make: SessionFactory) -> None:
        self._make = make
        self._session: Session | None = None
        self._running: asyncio.Future[Reply] | None = None
        self._tools = ToolThread("openenv-tools")

    async def start(self) -> None:
        """Builds the environment on the loop."""
        self._session = self._make()
        self._session.tooling.offload = self._tools

    def serve(self, request: Request) -> Reply | asyncio.Future[Reply]:
        """The reply itself, unless the environment awaits something on the way to it."""
        if self._session is None:
            raise HostCrashed("the environment was closed")
        outcome = self._session.serve(_heard_here(request))
        if isinstance(outcome, Reply):
            return outcome
        self._running = asyncio.ensure_future(outcome)
        return self._running

    async def close(self) -> None:
        """Gives up what the environment awaits, and closes it, after the tool that still runs."""
        session, self._session = self._session, None
        self._tools.stop()
        if self._running is not None and not self._running.done():
            self._running.cancel()
            await asyncio.wait([self._running])
        await self._tools.rest()
        if session is not None and (closing := session.close()) is not None:
            await closing

    def kill(self) -> bool:
        """Cancels what the environment awaits, which it may ignore."""
        if self._running is not None:
            self._running.cancel()
        return False

    def interrupt(self) -> None:
        """Cancels what the environment awaits, or interrupts the tool that it waits for."""
        if not self._tools.interrupt() and self._running is not None:
            self._running.cancel()


def _heard_here(request: Request) -> Request:
    """A request whose events arrive on this event loop, from whatever thread they come."""
    if request.emit is None:
        return request
    loop, emit = asyncio.get_running_loop(), request.emit

    def pass_on(event: bytes) -> None:
        with suppress(RuntimeError):  # the loop has closed: nobody listens any more
            loop.call_soon_threadsafe(emit, event)

    return replace(request, emit=pass_on)


class ThreadHost(Host):
    """On a thread: the same one for the environment's whole life, as many libraries need.

    A thread cannot be killed: a call that hangs keeps it until it returns.
    """

    def __init__(self, make: SessionFactory, worker: Worker, *, owns_worker: bool = True) -> None:
        self._make = make
        self._worker = worker
        self._owns_worker = owns_worker
        self._session: Session | None = None
        self._running: asyncio.Future[Reply] | None = None

    async def start(self) -> None:
        """Builds the environment on its thread."""
        await self._worker.run(self._build)

    def serve(self, request: Request) -> asyncio.Future[Reply]:
        """The reply, when the thread has it."""
        asked = _heard_here(request)
        self._running = self._worker.run(lambda: self._serve(asked))
        return self._running

    def interrupt(self) -> None:
        """Cancels what the environment awaits, or raises in its thread."""
        if self._running is not None:
            self._worker.interrupt(self._running)

    async def close(self) -> None:
        """Closes the environment on its thread, and ends the thread."""
        closed = self._worker.run(self._end)
        if self._owns_worker:
            self._worker.stop()
        await closed

    def _build(self) -> None:
        self._session = self._make()

    def _serve(self, request: Request) -> Reply:
        if self._session is None:
            raise HostCrashed("the environment was closed")
        return self._worker.calls.settle(self._session.serve(request))

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            self._worker.calls.settle(session.close())
