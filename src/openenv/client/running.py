"""Running a coroutine from code that cannot await."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


def inside_a_loop() -> bool:
    """Whether an event loop is running in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_async_safely(coro: Coroutine[Any, Any, ResultT]) -> ResultT:
    """The result of a coroutine; where an event loop runs already, it is run in another thread."""
    if not inside_a_loop():
        return asyncio.run(coro)
    with ThreadPoolExecutor(max_workers=1) as elsewhere:
        return elsewhere.submit(asyncio.run, coro).result()
