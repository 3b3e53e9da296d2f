"""What can only be used on the event loop that it was made on, such as a pool of connections."""

from __future__ import annotations

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncGenerator, Callable
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, ref


class Closable(Protocol):
    """What is closed by an async `close`."""

    async def close(self) -> None:
        """Ends it."""


ClosableT = TypeVar("ClosableT", bound=Closable)


class PerLoop(Generic[ClosableT]):
    """One of a kind for each event loop, closed with its loop.

    Sessions have loops of their own, and share one client. Each of theirs is kept open by an
    async generator: a loop ends those that it has left before it ends itself, or when nobody
    holds them any more.
    """

    def __init__(self) -> None:
        self._kept: _Kept[ClosableT] = WeakKeyDictionary()

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy begins with none: what is open is nothing that can be copied."""
        return type(self), ()

    async def get(self, make: Callable[[], ClosableT]) -> ClosableT:
        """That of the running loop, made now if there is none."""
        loop = get_running_loop()
        if loop not in self._kept:
            made = make()
            keeper = _keep(made, ref(self))
            self._kept[loop] = made, keeper
            await anext(keeper)
        return self._kept[loop][0]

    async def aclose(self) -> None:
        """Closes that of the running loop."""
        kept = self._kept.get(get_running_loop())
        if kept is not None:
            await kept[1].aclose()


_Kept = WeakKeyDictionary[AbstractEventLoop, tuple[ClosableT, AsyncGenerator[None, None]]]


async def _keep(made: ClosableT, owner: ref[PerLoop[ClosableT]]) -> AsyncGenerator[None, None]:
    """Holds its owner weakly: it is to end with it, and not to be a part of what is collected."""
    try:
        yield
    finally:
        held = owner()
        if held is not None:
            held._kept.pop(get_running_loop(), None)
        await made.close()
