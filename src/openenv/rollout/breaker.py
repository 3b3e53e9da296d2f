"""Breaker: a server that is known to be gone is not tried for long."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from openenv.protocol.errors import ConnectFailed

ResultT = TypeVar("ResultT")

REST = 5
"""How many times longer than a failed attempt no other is made."""


class Breaker:
    """Attempts to connect to one server.

    Once it is tripped, each call of a slot makes one attempt, which costs nothing where it is
    refused at once. One that takes seconds to fail would hold up the slots of other servers, so
    after that there is none for a while.

    Attributes:
        clock: tells the time, in seconds.
    """

    def __init__(self) -> None:
        self.clock: Callable[[], float] = time.monotonic
        self._tripped = False
        self._error: ConnectFailed | None = None
        self._until = 0.0

    def trip(self) -> None:
        """The server is gone, as far as can be told."""
        self._tripped = True

    async def attempt(self, connect: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Connects, which makes up for whatever was.

        Raises:
            ConnectFailed: it failed; no other attempt is worth making if it is tripped.
        """
        began = self.clock()
        if self._tripped and self._error is not None and began < self._until:
            raise ConnectFailed(str(self._error), self._error.status)
        try:
            result = await connect()
        except ConnectFailed as error:
            now = self.clock()
            self._error, self._until = error, now + REST * (now - began)
            if self._tripped:
                raise ConnectFailed(str(error), error.status) from error
            raise
        self._tripped, self._error = False, None
        return result
