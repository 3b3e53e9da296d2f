"""An environment that a page has in hand: in this process, on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from openenv.env.own_threads import fulfil
from openenv.env.spec import AnyEnvironment
from openenv.protocol.messages import Reply, Request
from openenv.runtime.host import Host, SessionFactory
from openenv.runtime.session import Session
from openenv.runtime.worker import BlockingCalls

ResultT = TypeVar("ResultT")


class OneThread(Executor):
    """Makes calls in turn, on one thread, which begins with the first of them.

    Unlike those of a pool, a call that never returns does not keep Python from ending.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._guard = threading.Lock()
        self._is_shut = False

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on the thread."""
        return threading.current_thread() is self._thread

    @property
    def is_shut(self) -> bool:
        """Whether it takes no more calls."""
        return self._is_shut

    def submit(self, fn: Callable[..., ResultT], /, *args: Any, **kwargs: Any) -> Future[ResultT]:
        """Makes a call after those before it; gives what will be its result.

        Raises:
            RuntimeError: it is shut down.
        """
        future: Future[ResultT] = Future()
        with self._guard:
            if self._is_shut:
                raise RuntimeError("this page's environment is closed: its server has ended")
            if self._thread.ident is None:
                self._thread.start()
            self._jobs.put(partial(_do, future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls; the thread ends after those that it has."""
        with self._guard:
            was_shut, self._is_shut = self._is_shut, True
            self._jobs.put(None)
        if wait and not was_shut and self._thread.ident is not None and not self.is_here:
            self._thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _do(future: Future[ResultT], call: Callable[[], ResultT]) -> None:
    if future.set_running_or_notify_cancel():
        fulfil(future, call)


class InHand:
    """An environment that is built when somebody first needs it, and kept until `close`.

    Args:
        make: builds it and its session.
        name: its name.

    Attributes:
        executor: the thread on which it lives.
    """

    def __init__(self, make: SessionFactory, name: str) -> None:
        self.executor = OneThread(f"openenv-{name}-page")
        self._make = make
        self._name = name
        self._session: Session | None = None
        self._calls = BlockingCalls()

    @property
    def is_built(self) -> bool:
        """Whether somebody has needed it."""
        return self._session is not None

    @property
    def session(self) -> Session:
        """Its session; building it blocks.

        Raises:
            EnvironmentFactoryError: its constructor raised.
        """
        if self._session is None:
            return (
                self._built()
                if self.executor.is_here
                else self.executor.submit(self._built).result()
            )
        return self._session

    @property
    def environment(self) -> AnyEnvironment:
        """The environment itself; errors as `session`."""
        return self.session.environment

    async def ask(self, request: Request) -> Reply:
        """What its session answers."""
        return await asyncio.wrap_future(self.executor.submit(self.answer, request))

    def answer(self, request: Request) -> Reply:
        """The same, on the thread."""
        return self._calls.settle(self._built().serve(request))

    def or_anew(self) -> InHand:
        """Itself; once it is closed, another one like it."""
        return InHand(self._make, self._name) if self.executor.is_shut else self

    async def close(self, grace_s: float) -> None:
        """Closes the environment after the call that runs, which is waited for so long."""
        closing = asyncio.ensure_future(asyncio.wrap_future(self.executor.submit(self._end)))
        self.executor.shutdown(wait=False)
        await asyncio.wait([closing], timeout=grace_s)
        closing.cancel()

    def _built(self) -> Session:
        if self._session is None:
            self._session = self._make()
        return self._session

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            self._calls.settle(session.close())
        self._calls.close()


class LentHost(Host):
    """A seat's hold on an environment that others have in hand as well, and that outlives it.

    Its thread cannot be killed nor interrupted: a call that hangs keeps the seat until it returns.
    """

    def __init__(self, in_hand: InHand) -> None:
        self._in_hand = in_hand

    async def start(self) -> None:
        """Builds the environment, if nobody has yet."""
        await asyncio.wrap_future(self._in_hand.executor.submit(lambda: self._in_hand.session))

    def serve(self, request: Request) -> asyncio.Future[Reply]:
        """The reply, when the thread has it."""
        return asyncio.wrap_future(self._in_hand.executor.submit(self._in_hand.answer, request))

    def interrupt(self) -> None:
        """Nothing can be done."""

    async def close(self) -> None:
        """Waits for the call that still runs."""
        await asyncio.wrap_future(self._in_hand.executor.submit(_nothing))


def _nothing() -> None:
    pass
