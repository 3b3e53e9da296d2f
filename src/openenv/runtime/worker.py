"""Worker: one thread that makes calls for an event loop, and can be interrupted in them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import WeakSet

from openenv.runtime.faults import ended
from openenv.runtime.interruption import Interrupted, Interruptible

ResultT = TypeVar("ResultT")


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
        cancel = self.cancellation()
        if cancel is not None:
            cancel()
        return cancel is not None

    def cancellation(self) -> Callable[[], object] | None:
        """What cancels that which is awaited now and nothing else, from any thread."""
        loop, task = self._loop, self._task
        if loop is None or task is None:
            return None
        return lambda: loop.call_soon_threadsafe(task.cancel)

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
        self._unwanted: WeakSet[asyncio.Future[Any]] = WeakSet()

    def run(self, job: Callable[[], ResultT]) -> asyncio.Future[ResultT]:
        """Does a job on the thread; its result arrives on the caller's event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ResultT] = loop.create_future()

        def work() -> None:
            result: object = None
            error: Exception | Interrupted | None = None
            try:
                self._doing = future
                result = self._interruptible.run(lambda: self._do(future, job), future)
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
        if future.done():
            return
        self._unwanted.add(future)
        cancel = self.calls.cancellation()
        if self._doing is not future:  # nor was it when that was looked up
            return
        if cancel is None:
            self._interruptible.interrupt(future)
        else:
            cancel()

    def _do(self, future: asyncio.Future[Any], job: Callable[[], ResultT]) -> ResultT:
        if future in self._unwanted:
            raise Interrupted
        return job()

    def stop(self) -> None:
        """Lets the thread end after the jobs it has."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self.calls.close()


class ToolThread:
    """Makes the blocking calls of tools in a thread of its own, in turn; begins with the first.

    Who gives up waiting for a call interrupts it.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._worker: Worker | None = None
        self._running: asyncio.Future[Any] | None = None

    def __call__(self, call: Callable[[], ResultT]) -> Awaitable[ResultT]:
        """What a call gives, made in the context of its caller."""
        if self._worker is None:
            self._worker = Worker(self._name)
        worker = self._worker
        self._running = running = worker.run(partial(copy_context().run, call))
        awaited = asyncio.shield(running)
        for future in (running, awaited):
            future.add_done_callback(_take_notice)
        awaited.add_done_callback(lambda _: worker.interrupt(running))
        return awaited

    def interrupt(self) -> bool:
        """Interrupts the call that runs, and says whether there is one."""
        if self._worker is None or self._running is None or self._running.done():
            return False
        self._worker.interrupt(self._running)
        return True

    async def rest(self) -> None:
        """Waits for the call that runs."""
        if self._running is not None and not self._running.done():
            await asyncio.wait([self._running])

    def stop(self) -> None:
        """Lets the thread end after its calls; another begins if there is need of one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop()


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
