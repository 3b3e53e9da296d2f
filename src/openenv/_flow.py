"""Flows: logic written once as a generator, driven blocking or awaiting.

A flow yields *effects* (what it wants done) and is sent their values. It never touches a
clock, a socket or an event loop; a driver does that for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

EffectT = TypeVar("EffectT")
ResultT = TypeVar("ResultT")

Flow = Generator[EffectT, Any, ResultT]
"""A generator of effects; what is sent back is the effect's value, what it returns its result."""


def drive(flow: Flow[EffectT, ResultT], perform: Callable[[EffectT], object]) -> ResultT:
    """Runs a flow to its end, performing each effect in the calling thread.

    An `Exception` of an effect is thrown into the flow, which may handle it. Anything else
    (Ctrl-C, cancellation) closes the flow, so that its `finally` blocks run, and propagates.
    """
    try:
        effect = next(flow)
        while True:
            try:
                value = perform(effect)
            except Exception as error:  # noqa: BLE001  # the flow decides what to do with it
                effect = flow.throw(error)
            else:
                effect = flow.send(value)
    except StopIteration as stop:
        result: ResultT = stop.value
        return result
    finally:
        flow.close()


async def adrive(
    flow: Flow[EffectT, ResultT],
    perform: Callable[[EffectT], Awaitable[object]],
    begun: EffectT | None = None,
) -> ResultT:
    """Runs a flow to its end, awaiting each effect; otherwise as `drive`.

    Args:
        flow: the flow.
        perform: gives an effect's value.
        begun: the effect that a flow which has begun already waits for.
    """
    try:
        effect = next(flow) if begun is None else begun
        while True:
            try:
                value = await perform(effect)
            except Exception as error:  # noqa: BLE001  # the flow decides what to do with it
                effect = flow.throw(error)
            else:
                effect = flow.send(value)
    except StopIteration as stop:
        result: ResultT = stop.value
        return result
    finally:
        flow.close()
