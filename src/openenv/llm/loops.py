"""What can only be used on the event loop that it was made on, such as a pool of connections."""

from __future__ import annotations

import threading
from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary


class Closable(Protocol):
    """What is closed by an async `aclose`."""

    async def aclose(self) -> None:
        """Ends it."""


ClosableT = TypeVar("ClosableT", bound=Closable)
_Kept = dict[str, tuple[Any, AsyncGenerator[None, None]]]
_kept: WeakKeyDictionary[AbstractEventLoop, _Kept] = WeakKeyDictionary()
_arriving = threading.Lock()


async def of_this_loop(name: str, make: Callable[[], ClosableT]) -> ClosableT:
    """The one of that name on the running loop, made now if there is none.

    Clients come and go, and sessions have loops of their own; what they share is closed when the
    loop ends. An async generator keeps it open, since a loop ends those that it has left before it
    ends itself.
    """
    loop = get_running_loop()
    if loop not in _kept:
        with _arriving:
            for closed in [other for other in _kept if other.is_closed()]:
                del _kept[closed]  # of a loop that left its generators behind
            _kept[loop] = {}
    if name not in _kept[loop]:
        made = make()
        keeper = _keep(made, name)
        _kept[loop][name] = made, keeper
        await anext(keeper)
    shared: ClosableT = _kept[loop][name][0]
    return shared


async def _keep(made: Closable, name: str) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _kept[get_running_loop()].pop(name, None)
        await made.aclose()
