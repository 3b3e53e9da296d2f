"""What goes wrong in an author's code, as typed errors that can cross the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeGuard

from pydantic import ValidationError
from pydantic_core import from_json

from openenv.env.models import is_observation
from openenv.protocol.errors import EnvironmentFailed, InvalidRequest, Json
from openenv.protocol.saying import authors_traceback, text_of
from openenv.rubrics.containment import is_ctrl_c
from openenv.runtime.interruption import Interrupted

Call = Callable[[], object]
"""A call into the environment, to be made where the environment lives; may give an awaitable."""

MAX_ERRORS_BYTES = 64 * 1024
LONGEST_SHOWN = 60


def contained(call: Call) -> object:
    """Makes a call; what it raises that is no `Exception` must not end the server.

    `sys.exit()` is such, and the panics of libraries in other languages.
    """
    try:
        value = call()
    except (Exception, Interrupted):
        raise
    except BaseException as end:
        if is_ctrl_c(end):
            raise
        raise ended(end) from end
    return _contained(value) if is_awaitable(value) else value


def is_awaitable(value: object) -> TypeGuard[Awaitable[object]]:
    """Whether a call gave something to await: a quick look, as every step takes it."""
    return not is_observation(value) and isinstance(value, Awaitable)


async def _contained(value: Awaitable[object]) -> object:
    try:
        return await value
    except (Exception, asyncio.CancelledError, Interrupted):
        raise
    except BaseException as end:
        if is_ctrl_c(end) or _is_closing(end):
            raise
        raise ended(end) from end


def _is_closing(end: BaseException) -> bool:
    """Whether an awaiting call is closed from outside: then no frame below it has raised this."""
    return isinstance(end, GeneratorExit) and (
        end.__traceback__ is None or end.__traceback__.tb_next is None
    )


def ended(end: BaseException) -> EnvironmentFailed:
    """The typed form of what an environment raised that is no `Exception`."""
    name = type(end).__name__
    how = f"called sys.exit({end.code!r})" if isinstance(end, SystemExit) else f"raised {name}"
    text = "" if isinstance(end, SystemExit) else f": {text_of(end)}"
    return EnvironmentFailed(f"the environment {how}{text}", exception=name)


def failed(error: Exception, operation: str, *, tracebacks: bool) -> EnvironmentFailed:
    """The typed form of an exception of the environment's own."""
    details: Json = {"exception": type(error).__name__, "operation": operation}
    if tracebacks:
        details["traceback"] = authors_traceback(error)
    return EnvironmentFailed(text_of(error), **details)


def invalid(error: ValidationError, what: str) -> InvalidRequest:
    """The wire's form of a pydantic error: one line that names each field, and the full list."""
    try:
        full = error.json(include_url=False)
    except ValueError:  # an input without a form in JSON: raw bytes
        full = error.json(include_url=False, include_input=False)
    faults = from_json(full)
    line = "; ".join(
        f"{'.'.join(map(_name, fault['loc'])) or 'value'}: {fault['msg']}{_received(fault)}"
        for fault in faults[:5]
    )
    more = f" (and {len(faults) - 5} more)" if len(faults) > 5 else ""
    if len(full) > MAX_ERRORS_BYTES:
        faults = from_json(error.json(include_url=False, include_input=False))[:50]
    return InvalidRequest(f"Invalid {what}: {line}{more}", errors=faults)


def _received(fault: Json) -> str:
    """What a fault is about, where the text of the fault leaves it out and it is short."""
    value = fault.get("input")
    if fault["type"] == "missing" or not isinstance(value, str | int | float | bool | None):
        return ""
    shown = repr(value)
    return f", got {shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + '…'}"


def _name(part: str | int) -> str:
    """A field's name on one line, whatever the sender called it."""
    text = str(part)
    return text if text.isprintable() else repr(text)
