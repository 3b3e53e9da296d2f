"""Tools: the caller's functions, called by code that nobody trusts."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from pydantic_core import from_json

from openenv.executor.exchange import Loss, Lost
from openenv.executor.limits import ExecutorLimits
from openenv.executor.wire import TEXT_BYTES, Answer, Call, Kind, cut, encode
from openenv.protocol.errors import ConfigurationError, EnvironmentFailed
from openenv.protocol.values import encode as to_json


class Tools:
    """Calls each in a thread of its own, and waits for it no longer than the code may run.

    One that has not returned by then keeps its thread; until it does, no other is called.

    Args:
        functions: by name.
        limits: how many calls, and how large.

    Raises:
        ConfigurationError: a name is none that code can call.
    """

    def __init__(self, functions: Mapping[str, Any], limits: ExecutorLimits) -> None:
        for name, function in functions.items():
            if not (isinstance(name, str) and name.isidentifier() and callable(function)):
                raise ConfigurationError(
                    f"tools must be functions by names that code can call, got {name!r}: "
                    f"{function!r}"
                )
        self._functions = dict(functions)
        self._limits = limits
        self._left = 0
        self._thread: threading.Thread | None = None
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()

    @property
    def described(self) -> tuple[tuple[str, str], ...]:
        """What they are called, and what `help` shows of each."""
        return tuple((name, _help(name, f)) for name, f in sorted(self._functions.items()))

    def begin(self) -> None:
        """Another piece of code begins, with all its calls before it."""
        self._left = self._limits.tool_calls

    def cancel(self) -> None:
        """Whoever waits for one waits no more."""
        self._answers.put(None)

    def serve(self, call: Call, patience_s: float) -> bytes:
        """The answer to a call, as a frame.

        Raises:
            Lost: there is none in time, or none is wanted any more.
        """
        self._left -= 1
        if self._left < -self._limits.tool_calls:
            raise Lost(Loss.PESTERING)
        answer = self._refusal(call) or self._call(call, patience_s)
        return encode(Kind.ANSWER, answer)

    def _refusal(self, call: Call) -> Answer | None:
        if call.tool not in self._functions:
            return _failed(NameError, f"there is no tool {call.tool!r}")
        if self._left < 0:
            limit = self._limits.tool_calls
            return _failed(RuntimeError, f"this code has called tools {limit} times, the limit")
        if len(call.arguments) > self._limits.tool_bytes:
            return _failed(
                ValueError,
                f"the arguments of {call.tool}() take {len(call.arguments)} bytes as JSON, more "
                f"than the limit of {self._limits.tool_bytes}",
            )
        if self._thread is not None and self._thread.is_alive():
            return _failed(RuntimeError, "a tool that was called before has not returned yet")
        return None

    def _call(self, call: Call, patience_s: float) -> Answer:
        answers = self._answers = SimpleQueue()
        self._thread = threading.Thread(
            target=lambda: answers.put(self._answer(call)),
            name=f"openenv-tool-{call.tool}",
            daemon=True,
        )
        self._thread.start()
        try:
            answer = answers.get(timeout=max(0.0, patience_s))
        except Empty:
            raise Lost(Loss.TIMEOUT) from None
        if answer is None:
            raise Lost(Loss.DEATH)
        self._thread.join()
        return answer

    def _answer(self, call: Call) -> Answer:
        try:
            args, kwargs = _arguments(call)
            result = to_json(self._functions[call.tool](*args, **kwargs))
        except EnvironmentFailed as error:
            return _failed(TypeError, f"{call.tool}() returned no JSON: {error.message}")
        except BaseException as error:  # noqa: BLE001  # raised in the code
            said = error.args[0] if isinstance(error, KeyError) and error.args else error
            return _failed(type(error), str(said))
        if len(result) > self._limits.tool_bytes:
            return _failed(
                ValueError,
                f"the result of {call.tool}() takes {len(result)} bytes as JSON, more than the "
                f"limit of {self._limits.tool_bytes}",
            )
        return Answer(result=result)


def _help(name: str, function: Callable[..., Any]) -> str:
    """A function's signature, and its docstring."""
    text = f"{name}{_signature(function)}\n\n{inspect.getdoc(function) or ''}".rstrip()
    return cut(text, TEXT_BYTES)[0]


def _signature(function: Callable[..., Any]) -> str:
    """How it is called: the same text for each executor of a kind, or they would share nothing."""
    for are_read in (True, False):  # hints that cannot be are shown as they are written
        with suppress(Exception):
            text = str(inspect.signature(function, eval_str=are_read))
            return text if " at 0x" not in text else "(...)"
    return "(...)"


def _arguments(call: Call) -> tuple[list[Any], dict[str, Any]]:
    try:
        args, kwargs = from_json(call.arguments, allow_inf_nan=False)
    except (ValueError, TypeError):
        raise TypeError(f"{call.tool}() takes what JSON can say") from None
    if not (isinstance(args, list) and isinstance(kwargs, dict)):
        raise TypeError(f"{call.tool}() takes a list and an object of arguments")
    return args, kwargs


def _failed(kind: type[BaseException], message: str) -> Answer:
    return Answer(raised=kind.__name__, message=cut(message, TEXT_BYTES)[0])
