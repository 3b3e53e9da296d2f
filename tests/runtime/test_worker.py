"""Calls that block, in a thread beside the event loop."""

import asyncio
import contextvars
import threading
from functools import partial

import pytest

from openenv.runtime.worker import ToolThread

named: contextvars.ContextVar[str] = contextvars.ContextVar("named")


async def test_a_call_is_made_in_the_context_of_its_caller() -> None:
    thread = ToolThread("test-tools")
    named.set("here")
    assert await thread(named.get) == "here"
    thread.stop()


async def test_calls_that_are_given_up_before_they_began_never_begin() -> None:
    thread, entered, release = ToolThread("test-tools"), threading.Event(), threading.Event()
    made: list[int] = []

    def first() -> None:
        entered.set()
        release.wait(30)

    waiting = [asyncio.ensure_future(thread(first))]
    waiting += [asyncio.ensure_future(thread(partial(made.append, n))) for n in range(3)]
    await asyncio.to_thread(entered.wait, 30)
    for each in waiting:
        each.cancel()
    await asyncio.wait(waiting)
    await asyncio.sleep(0)
    release.set()
    assert await thread(lambda: "next") == "next"
    thread.stop()
    assert made == []


async def test_what_it_raises_after_its_caller_has_left_is_nobodys() -> None:
    thread, entered, release = ToolThread("test-tools"), threading.Event(), threading.Event()

    def breaks() -> None:
        entered.set()
        release.wait(30)
        raise ValueError("late")

    waiting = asyncio.ensure_future(thread(breaks))
    await asyncio.to_thread(entered.wait, 30)
    waiting.cancel()
    await asyncio.wait([waiting])
    release.set()
    await thread.rest()
    with pytest.raises(ValueError, match="next"):
        await thread(lambda: int("next"))
    thread.stop()
