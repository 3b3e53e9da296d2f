"""Flows over the results of rubrics: at once where nothing awaits, else to be awaited."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Coroutine, Generator, Sequence
from functools import partial
from typing import Any, TypeGuard, TypeVar

from openenv._flow import Flow, adrive
from openenv.rubrics.containment import contained
from openenv.rubrics.score import Score

ResultT = TypeVar("ResultT")

Effect = Sequence[object]
"""Results of calls, of which some may have to be awaited; the flow is sent the values of all."""


def settle(
    flow: Flow[Effect, ResultT], parallel: int = 1
) -> ResultT | Coroutine[Any, Any, ResultT]:
    """Runs a flow, at once up to the first effect with something to await.

    Args:
        flow: what yields effects.
        parallel: how many results of one effect are awaited at a time.

    Returns:
        the flow's result; or a coroutine that goes on from there.
    """
    try:
        effect = next(flow)
        while not _awaits(effect):
            effect = flow.send(effect)
    except StopIteration as stop:
        result: ResultT = stop.value
        return result
    owner = _owning(flow, effect)
    return adrive(owner, partial(gathered, parallel=parallel), next(owner))


def _owning(flow: Flow[Effect, ResultT], effect: Effect) -> Flow[Effect, ResultT]:
    """A flow that waits for an effect, whose results are given up if it ends meanwhile.

    A coroutine that is cancelled before it has begun runs none of its code; its flow is told.
    """
    try:
        while True:
            try:
                values = yield effect
            except Exception as error:  # noqa: BLE001  # the flow decides what to do with it
                effect = flow.throw(error)
            else:
                effect = flow.send(values)
    except StopIteration as stop:
        result: ResultT = stop.value
        return result
    finally:
        give_up(*effect)
        flow.close()


def _awaits(effect: Effect) -> bool:
    for value in effect:  # noqa: SIM110  # every container's every call takes this way
        if type(value) is not Score and is_pending(value):
            return True
    return False


def is_pending(value: object) -> TypeGuard[Awaitable[object]]:
    """Whether a value has to be awaited; a score may be, and does not have to."""
    kind = type(value)
    if kind is float or kind is Score:  # as nearly all are
        return False
    return hasattr(kind, "__await__") and not isinstance(value, Score)


async def gathered(effect: Effect, parallel: int) -> list[object]:
    """The values of an effect, in its order, those to be awaited in parallel."""
    pending = [value for value in effect if is_pending(value)]
    values = iter([await pending[0]] if len(pending) == 1 else await _together(pending, parallel))
    return [next(values) if is_pending(value) else value for value in effect]


async def _together(pending: Sequence[Awaitable[object]], parallel: int) -> list[object]:
    turns = asyncio.Semaphore(parallel)

    async def in_turn(one: Awaitable[object]) -> object:
        async with turns:
            return await contained(one)

    tasks = [asyncio.ensure_future(in_turn(one)) for one in pending]
    try:
        return await asyncio.gather(*tasks)
    finally:  # a cancelled one may clean up, and one whose turn never came is given up
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        give_up(*pending)


class Pending(ABC):
    """Something to await that is told if nobody will."""

    @abstractmethod
    def __await__(self) -> Generator[Any, Any, object]:
        """Its value."""

    @abstractmethod
    def close(self) -> None:
        """Nobody will await it, or it has been."""


def give_up(*values: object) -> None:
    """Closes what nobody will await, if it can be; what has been awaited does not mind."""
    for value in values:
        if isinstance(value, Coroutine | Pending):
            value.close()
