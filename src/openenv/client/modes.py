"""How one client class serves both blocking and awaiting callers."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any, TypeVar

from openenv.client.pending import Pending, Ready
from openenv.client.running import inside_a_loop
from openenv.protocol.errors import ModeError

ResultT = TypeVar("ResultT")

OPERATIONS = (
    *("connect", "disconnect", "reset", "step", "state", "close"),
    *("list_tools", "call_tool", "get_tool", "has_tool"),
)
"""What a subclass may override, as a plain or as an `async` method."""


class Colour(Enum):
    """How a client is used. Its first use decides."""

    UNDECIDED = "undecided"
    BLOCKING = "blocking"
    AWAITING = "awaiting"


class TwoColoured:
    """A client whose calls block outside an event loop and can be awaited inside one."""

    _colour = Colour.UNDECIDED
    _inside_override = False
    _left: tuple[Callable[[], Any], ...] = ()
    """Calls that were neither awaited nor read, which a blocking caller counts as made."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Lets operations that a subclass overrides as `async` methods also be called blocking."""
        super().__init_subclass__(**kwargs)
        for name in OPERATIONS:
            method = cls.__dict__.get(name)
            if inspect.iscoroutinefunction(method):
                setattr(cls, name, _either(method))

    def _claim(self, colour: Colour) -> None:
        """Settles how the client is used.

        Raises:
            ModeError: it has been used the other way.
        """
        if self._colour not in (Colour.UNDECIDED, colour):
            other = "blocking" if self._colour is Colour.BLOCKING else "awaiting"
            raise ModeError(
                f"this {type(self).__name__} is in {other} mode since its first use; one client "
                "works one way: make another client for the other (`with` and .sync() block, "
                "`async with` awaits)"
            )
        self._colour = colour

    def _do(
        self,
        name: str,
        blocking: Callable[[], ResultT],
        awaiting: Callable[[], Coroutine[Any, Any, ResultT]],
    ) -> Any:
        """A call: its result where the client blocks, something to await where it awaits."""
        if self._blocks():
            result = blocking()
            return Ready(result) if self._inside_override else result

        return self._pending(name, blocking, awaiting)

    def _pending(
        self,
        name: str,
        blocking: Callable[[], ResultT],
        awaiting: Callable[[], Coroutine[Any, Any, ResultT]],
    ) -> Pending[ResultT]:
        def block() -> ResultT:
            if self._colour is Colour.AWAITING:
                raise ModeError(
                    f"the result of {name}() was read before it was awaited: write `await` in "
                    "front of the call, this client is in awaiting mode since its first use"
                )
            self._claim(Colour.BLOCKING)
            left, self._left = self._left, ()
            for call in left:
                call()
            return blocking()

        async def wait() -> ResultT:
            self._claim(Colour.AWAITING)
            self._left = ()
            return await awaiting()

        return Pending(f"{type(self).__name__}.{name}()", wait, block, self._leave)

    def _leave(self, call: Callable[[], Any]) -> None:
        """Keeps a call that nobody waits for until it shows how the client is used."""
        if self._colour is Colour.UNDECIDED:
            self._left += (call,)

    def _blocks(self) -> bool:
        """Whether a call made here and now blocks; a first call outside any loop decides that."""
        if self._colour is Colour.BLOCKING:
            return True
        if inside_a_loop():
            return False
        self._claim(Colour.BLOCKING)
        return True

    def _run_blocking(self, coroutine: Coroutine[Any, Any, ResultT]) -> Any:
        """Runs an `async` method of a subclass in a blocking client.

        The client's own operations are done by the time it awaits them.

        Raises:
            ModeError: it awaits anything else.
        """
        outer, self._inside_override = self._inside_override, True
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return Ready(stop.value) if outer else stop.value
        except RuntimeError as error:
            if str(error) != "no running event loop":
                raise
        finally:
            self._inside_override = outer
            coroutine.close()
        raise ModeError(
            f"{getattr(coroutine, '__qualname__', 'it')}() awaits more than this client's own "
            "operations, which a blocking client cannot do: use the client with `async with`"
        )


def _either(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: TwoColoured, *args: Any, **kwargs: Any) -> Any:
        if self._blocks():
            return self._run_blocking(method(self, *args, **kwargs))
        return self._pending(
            method.__name__,
            lambda: self._run_blocking(method(self, *args, **kwargs)),
            lambda: method(self, *args, **kwargs),
        )

    return call
