"""Hosts: where an environment lives, and on which thread its calls run."""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from openenv.env.environment import Environment
from openenv.env.incidents import authors_traceback, text_of
from openenv.env.spec import EnvSpec
from openenv.protocol.errors import EnvironmentFactoryError, HostCrashed
from openenv.protocol.messages import Reply, Request
from openenv.protocol.wire import ServerMode
from openenv.runtime.faults import contained, ended
from openenv.runtime.interruption import Interrupted, Interruptible
from openenv.runtime.limits import Limits
from openenv.runtime.session import Session

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
            environment = contained(spec.make)
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
        self._tools: Worker | None = None
        self._tool: asyncio.Future[Any] | None = None

    async def start(self) -> None:
        """Builds the environment on the loop."""
        self._session = self._make()
        self._session.tooling.offload = self._offload

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
        if self._tools is not None:
            self._tools.stop()
        if self._running is not None and not self._running.done():
            self._running.cancel()
            await asyncio.wait([self._running])
        if self._tool is not None and not self._tool.done():
            await asyncio.wait([self._tool])
        if session is not None and (closing := session.close()) is not None:
            await closing

    def kill(self) -> bool:
        """Cancels what the environment awaits, which it may ignore."""
        if self._running is not None:
            self._running.cancel()
        return False

    def interrupt(self) -> None:
        """Cancels what the environment awaits, or interrupts the tool that it waits for."""
        if self._tools is not None and self._tool is not None and not self._tool.done():
            self._tools.interrupt(self._tool)
        elif self._running is not None:
            self._running.cancel()

    def _offload(self, call: Callable[[], Any]) -> Awaitable[Any]:
        """Makes a tool's blocking call beside the loop."""
        if self._tools is None:
            self._tools = Worker("openenv-tools")
        self._tool = self._tools.run(partial(copy_context().run, call))
        awaited = asyncio.shield(self._tool)
        for future in (self._tool, awaited):
            future.add_done_callback(_take_notice)
        return awaited


class BlockingCalls:
    """Makes calls in one thread, and keeps the event loop there that awaited ones need."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def settle(self, outcome: ResultT | Coroutine[Any, Any, ResultT]) -> ResultT:
        """What a call gave, after awaiting it in this thread if that is needed."""
        if not isinstance(outcome, Coroutine):
            return outcome
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        self._task = task = self._loop.create_task(outcome)
        try:
            result: ResultT = self._loop.run_until_complete(task)
        finally:
            self._task = None
        return result

    def interrupt(self) -> bool:
        """Cancels what is awaited, from any thread, and says whether something was."""
        loop, task = self._loop, self._task
        if loop is None or task is None:
            return False
        loop.call_soon_threadsafe(task.cancel)
        return True

    def close(self) -> None:
        """Closes the event loop, if there was need of one, and ends what was left running on it."""
        if self._loop is not None:
            self._loop.run_until_complete(_end_tasks())
            self._loop.close()


async def _end_tasks() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()


class Worker:
    """One thread that does jobs in turn and hands their results to the event loop."""

    def __init__(self, name: str) -> None:
        self.calls = BlockingCalls()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._interruptible = Interruptible()
        self._doing: asyncio.Future[Any] | None = None
        self._unwanted: asyncio.Future[Any] | None = None

    def run(self, job: Callable[[], ResultT]) -> asyncio.Future[ResultT]:
        """Does a job on the thread; its result arrives on the caller's event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ResultT] = loop.create_future()

        def work() -> None:
            result: object = None
            error: Exception | Interrupted | None = None
            try:
                self._doing = future
                result = self._interruptible.run(lambda: self._do(future, job))
            except BaseException as raised:  # noqa: BLE001  # handed to whoever waits
                error = raised if isinstance(raised, Exception | Interrupted) else ended(raised)
            with suppress(RuntimeError):  # the loop has closed: nobody waits any more
                loop.call_soon_threadsafe(_deliver, future, result, error)

        if self._thread.ident is None:
            self._thread.start()
        self._jobs.put(work)
        return future

    def interrupt(self, future: asyncio.Future[Any]) -> None:
        """Interrupts the job whose result is awaited so, or sees to it that it does not begin."""
        self._unwanted = future
        if self._doing is future and not self.calls.interrupt():
            self._interruptible.interrupt()

    def _do(self, future: asyncio.Future[Any], job: Callable[[], ResultT]) -> ResultT:
        if self._unwanted is future:
            raise Interrupted
        return job()

    def stop(self) -> None:
        """Lets the thread end after the jobs it has."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self.calls.close()


def _heard_here(request: Request) -> Request:
    """A request whose events arrive on this event loop, from whatever thread they come."""
    if request.emit is None:
        return request
    loop, emit = asyncio.get_running_loop(), request.emit

    def pass_on(event: bytes) -> None:
        with suppress(RuntimeError):  # the loop has closed: nobody listens any more
            loop.call_soon_threadsafe(emit, event)

    return replace(request, emit=pass_on)


def _take_notice(future: asyncio.Future[Any]) -> None:
    """Whoever was to await this may have left: its error is not reported as a forgotten one."""
    if not future.cancelled():
        future.exception()


def _deliver(
    future: asyncio.Future[Any], result: object, error: Exception | Interrupted | None
) -> None:
    if future.done():
        return
    if isinstance(error, Interrupted):  # as nobody waits for it
        future.cancel()
    elif error is None:
        future.set_result(result)
    else:
        future.set_exception(error)


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
