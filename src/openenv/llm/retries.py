"""Asking again: how often, after how long, and when to give up."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from openenv.llm.errors import ModelUnavailable
from openenv.protocol.errors import ConfigurationError

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class RetryPolicy:
    """How a model that is busy, broken or out of reach is asked again.

    The wait doubles from attempt to attempt, less a random part of it, so that sessions that
    failed together do not return together. What the server wishes by `Retry-After` is granted.

    Attributes:
        attempts: how often a model is asked, the first time among them; 1 asks once.
        total_s: seconds for all attempts and the waits between them.
        first_wait_s: seconds before the second attempt, at most.
        longest_wait_s: seconds that no wait of our own exceeds.

    Raises:
        ConfigurationError: a number is out of range.
    """

    attempts: int = 5
    total_s: float = 120.0
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ConfigurationError(f"RetryPolicy(attempts={self.attempts}): give 1 or more")
        for name in ("total_s", "first_wait_s", "longest_wait_s"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds >= 0):
                raise ConfigurationError(f"RetryPolicy({name}={seconds}): give seconds, 0 or more")

    def wait_s(self, failed: int, wish_s: float | None = None) -> float:
        """Seconds before the next attempt.

        Args:
            failed: attempts so far, at least 1.
            wish_s: what the server asks for.
        """
        own = min(self.longest_wait_s, self.first_wait_s * 2 ** min(failed - 1, 30))
        if wish_s is not None:
            return wish_s + random.uniform(0, self.first_wait_s)
        return random.uniform(own / 2, own)


async def persist(ask: Callable[[float], Awaitable[ResultT]], policy: RetryPolicy) -> ResultT:
    """The first answer.

    Args:
        ask: one attempt; it is given the seconds that are left for it.
        policy: how often, and how long in all.

    Raises:
        ModelUnavailable: of the last attempt, with the number of all of them.
    """
    began = time.monotonic()
    for attempt in range(1, policy.attempts + 1):
        try:
            return await ask(policy.total_s - (time.monotonic() - began))
        except ModelUnavailable as error:
            spent = time.monotonic() - began
            wait = policy.wait_s(attempt, error.retry_after_s)
            if attempt == policy.attempts or spent + wait >= policy.total_s:
                raise error.after(attempt, spent) from None
            await asyncio.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def wished_s(headers: Mapping[str, str]) -> float | None:
    """The seconds that a `Retry-After` asks for, as a number or as a date; `None` without one."""
    told = headers.get("retry-after", "")
    try:
        seconds = (
            float(headers["retry-after-ms"]) / 1000 if "retry-after-ms" in headers else float(told)
        )
    except ValueError:
        seconds = _until(told)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return math.nan
