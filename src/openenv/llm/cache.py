"""AnswerCache: what was asked once is not asked again."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any

from typing_extensions import Self

from openenv.protocol.errors import ConfigurationError


class _Abandoned(Exception):
    """Whoever asked was cancelled before there was an answer."""


class AnswerCache:
    """The last answers, by a key that says all that was asked.

    Whoever asks what is being asked already waits for that answer, or that failure. Failures are
    not kept. Event loops and threads may share one.

    Args:
        size: answers that are kept; the one that was not used for longest goes first.

    Attributes:
        hits: how often an answer was there, or on its way.
        misses: how often a model was asked.

    Raises:
        ConfigurationError: the size is less than 1.
    """

    def __init__(self, size: int = 1024) -> None:
        if size < 1:
            raise ConfigurationError(f"AnswerCache(size={size}): give 1 or more")
        self.size = size
        self.hits = 0
        self.misses = 0
        self._answers: OrderedDict[str, Future[str]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it begins empty: an answer on its way cannot be sent there."""
        return type(self), (self.size,)

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: the copies of a rubric share its answers."""
        return self

    async def get(self, key: str, ask: Callable[[], Awaitable[str]]) -> str:
        """The answer to what a key stands for.

        Args:
            key: all that the answer depends on.
            ask: how to get the answer if it is not there. What it raises is raised.
        """
        while True:
            answer, is_ours = self._claim(key)
            if is_ours:
                return await self._ask(key, answer, ask)
            try:
                return await asyncio.wrap_future(answer)
            except _Abandoned:
                continue

    def forget(self, key: str) -> None:
        """Drops an answer that turned out to be of no use."""
        with self._lock:
            self._answers.pop(key, None)

    def _claim(self, key: str) -> tuple[Future[str], bool]:
        """The answer, and whether it is the caller who must get it."""
        with self._lock:
            if key in self._answers:
                self.hits += 1
                self._answers.move_to_end(key)
                return self._answers[key], False
            self.misses += 1
            answer: Future[str] = Future()
            answer.set_running_or_notify_cancel()  # one who waits for it cannot cancel it
            self._answers[key] = answer
            while len(self._answers) > self.size:
                self._answers.popitem(last=False)
            return answer, True

    async def _ask(self, key: str, answer: Future[str], ask: Callable[[], Awaitable[str]]) -> str:
        try:
            text = await ask()
        except BaseException as error:
            with self._lock:
                if self._answers.get(key) is answer:
                    del self._answers[key]
            answer.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        answer.set_result(text)
        return text
