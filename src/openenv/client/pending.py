"""Pending: a call that was made and not yet done, inside a running event loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


class Deferred(Coroutine[Any, Any, ResultT_co], Generic[ResultT_co]):
    """Something to await that begins when it is awaited, and leaves no warning if it never is.

    Args:
        awaiting: gives the coroutine that does it.
    """

    def __init__(self, awaiting: Callable[[], Coroutine[Any, Any, ResultT_co]]) -> None:
        self._awaiting = awaiting
        self._coroutine: Coroutine[Any, Any, ResultT_co] | None = None

    def __await__(self) -> Generator[Any, None, ResultT_co]:
        """Does it on the event loop."""
        return self._begin().__await__()

    def send(self, value: Any) -> Any:
        """As of any coroutine."""
        return self._begin().send(value)

    def throw(self, *error: Any) -> Any:
        """As of any coroutine."""
        return self._begin().throw(*error)

    def close(self) -> None:
        """As of any coroutine: it is given up."""
        self._begin().close()

    def __getattr__(self, name: str) -> Any:
        """What event loops look for on a coroutine that runs."""
        if name.startswith("cr_") and self._coroutine is not None:
            return getattr(self._coroutine, name)
        raise AttributeError(name)

    def _begin(self) -> Coroutine[Any, Any, ResultT_co]:
        if self._coroutine is None:
            self._coroutine = self._awaiting()
        return self._coroutine


LOOKED_FOR = ("_", "cr_", "gi_", "ag_")
"""How the names begin that event loops and notebooks look for, not the caller."""


class Pending(Deferred[ResultT_co], Generic[ResultT_co]):
    """A call whose caller has not said yet whether it blocks or awaits.

    Awaiting it does the call on the event loop. Reading an attribute of its result, or its truth,
    does the call at once, blocking: code that was written without `await` works in a notebook or
    inside a trainer's coroutine. Either way the first use settles it for the whole client.

    Args:
        name: the call, for warnings.
        awaiting: gives the coroutine that does it.
        blocking: does it.
        leave: takes `blocking` where the call is dropped before it was done.
    """

    def __init__(
        self,
        name: str,
        awaiting: Callable[[], Coroutine[Any, Any, ResultT_co]],
        blocking: Callable[[], ResultT_co],
        leave: Callable[[Callable[[], Any]], None],
    ) -> None:
        super().__init__(awaiting)
        self._name = name
        self._blocking = blocking
        self._leave = leave
        self._outcome: Callable[[], ResultT_co] | None = None

    def __getattr__(self, name: str) -> Any:
        """An attribute of the result, for which the call is done at once."""
        if name.startswith(LOOKED_FOR):
            return super().__getattr__(name)
        return getattr(self._read(), name)

    def __bool__(self) -> bool:
        """The truth of the result, for which the call is done at once: itself it would be true."""
        return bool(self._read())

    def __repr__(self) -> str:
        return f"<{self._name}: await it, or read an attribute of its result>"

    def _read(self) -> ResultT_co:
        if self._outcome is None:
            self._outcome = _outcome(self._blocking)
        return self._outcome()

    def __del__(self) -> None:
        """Warns, as a coroutine does, of a call that was never done."""
        if self._coroutine is None and self._outcome is None:
            self._leave(self._blocking)
            warnings.warn(
                f"{self._name} was never awaited, so it is not done, unless the next call blocks",
                RuntimeWarning,
                stacklevel=2,
            )


def _outcome(call: Callable[[], ResultT]) -> Callable[[], ResultT]:
    """Makes a call, once; gives a function that returns its result or raises its error."""
    try:
        result = call()
    except Exception as error:  # noqa: BLE001  # raised by whoever asks
        failure = error

        def fail() -> ResultT:
            raise failure

        return fail
    return lambda: result


class Ready(Generic[ResultT_co]):
    """A result that may be awaited and is there already."""

    def __init__(self, result: ResultT_co) -> None:
        self._result = result

    def __await__(self) -> Generator[Any, None, ResultT_co]:
        """The result, without waiting."""
        yield from ()
        return self._result
