"""Calls of a policy: each in its time, wherever it hangs, and what it raises by one name."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from openenv.protocol.errors import OpenEnvError
from openenv.rubrics.containment import ENDINGS, contained, is_ctrl_c

MOST_HUNG = 64
"""How many calls may hang at the same time, each in a thread that nobody can end."""


class PolicyFailed(OpenEnvError, RuntimeError):
    """A policy raised, or gave something that is no action."""


class PolicyTimeout(PolicyFailed, TimeoutError):
    """A policy took longer for an action than it may."""


class PolicyHangs(PolicyFailed):
    """So many calls of a policy hang that no further one is made."""


class PolicyCalls:
    """Calls one policy for many episodes.

    Args:
        name: of the policy.
        timeout_s: how long a call may take; `None` for ever.

    Attributes:
        hung: calls that were given up and still run.
    """

    def __init__(self, name: str, timeout_s: float | None) -> None:
        self._name = name
        self._timeout_s = timeout_s
        self.hung = 0

    async def result(self, chosen: Any) -> Any:
        """What was chosen, awaited if it has to be.

        Raises:
            PolicyTimeout: it takes too long.
            PolicyFailed: it raised.
        """
        if not inspect.isawaitable(chosen):
            return chosen
        task = asyncio.ensure_future(contained(chosen))
        try:
            done, _ = await asyncio.wait({task}, timeout=self._timeout_s)
            if not done:
                raise self._timeout()
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error is not None:
                raise self.failed(error) from error
            return task.result()
        finally:
            task.cancel()  # of no effect unless the wait was given up or cancelled

    def made(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function that does not block returns.

        Raises:
            PolicyFailed: it raised.
        """
        try:
            return function(*arguments)
        except Exception as error:
            raise self.failed(error) from error
        except ENDINGS as end:
            if is_ctrl_c(end):
                raise
            raise self.failed(end) from end

    def failed(self, error: BaseException) -> OpenEnvError:
        """The error that a policy raised, as one of ours."""
        if isinstance(error, OpenEnvError):
            return error
        failure = PolicyFailed(
            f"the policy {self._name!r} raised {type(error).__name__}: {error}"[:2000]
        )
        failure.__cause__ = error
        return failure

    def give_up(self) -> PolicyFailed:
        """Counts a call that is waited for no longer."""
        self.hung += 1
        if self.hung >= MOST_HUNG:
            return PolicyHangs(
                f"{self.hung} calls of the policy {self._name!r} hang; mend it, or give it more "
                "time with policy_timeout_s"
            )
        return self._timeout()

    def _timeout(self) -> PolicyTimeout:
        return PolicyTimeout(
            f"the policy {self._name!r} gave no action within {self._timeout_s:g} s; mend it, or "
            "give it more time with policy_timeout_s"
        )

    @property
    def timeout_s(self) -> float | None:
        """How long a call may take."""
        return self._timeout_s


class PolicyThread:
    """A thread for the calls of one session that may block; a call that hangs has it replaced.

    Args:
        calls: whose they are.
    """

    def __init__(self, calls: PolicyCalls) -> None:
        self._calls = calls
        self._work: SimpleQueue[Any] | None = None

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns.

        Raises:
            PolicyTimeout: it takes too long.
            PolicyFailed: it raised, or too many calls hang.
        """
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def settle(result: Any, error: OpenEnvError | None) -> None:
            if future.done():
                self._calls.hung -= 1
            elif error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        def work() -> None:
            outcome: tuple[Any, OpenEnvError | None]
            try:
                outcome = function(*arguments), None
            except BaseException as error:  # noqa: BLE001  # anyone's code may raise anything
                outcome = None, self._calls.failed(error)
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, *outcome)

        self._thread().put(work)
        done, _ = await asyncio.wait({future}, timeout=self._calls.timeout_s)
        if done:
            return future.result()
        future.cancel()
        self.close()
        raise self._calls.give_up()

    def close(self) -> None:
        """Ends the thread, as soon as what it does is done."""
        if self._work is not None:
            self._work.put(None)
            self._work = None

    def _thread(self) -> SimpleQueue[Any]:
        if self._work is None:
            self._work = SimpleQueue()
            threading.Thread(
                target=_serve, args=(self._work,), name="openenv-policy", daemon=True
            ).start()
        return self._work


def _serve(work: SimpleQueue[Any]) -> None:
    while (task := work.get()) is not None:
        task()
