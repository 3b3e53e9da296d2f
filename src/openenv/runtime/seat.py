"""Seat: one session as its server sees it — its host, its deadlines and its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import TypeVar

from openenv.protocol.errors import (
    HostCrashed,
    SessionError,
    SessionNotFoundError,
    StepTimeout,
)
from openenv.protocol.messages import Reply, Request, error_reply
from openenv.runtime.host import Host
from openenv.runtime.limits import Limits

logger = logging.getLogger("openenv.sessions")

ResultT = TypeVar("ResultT")


class Stage(Enum):
    """The life of a seat."""

    STARTING = "starting"
    OPEN = "open"
    CLOSING = "closing"
    GONE = "gone"


class Seat:
    """One session's place in the server. It counts against the capacity until it is GONE.

    Calls run one at a time. A call that outlasts its deadline ends the session: the host is
    killed where that is possible; a thread that hangs keeps the seat until it returns, and what
    it still does can reach no other session.

    Attributes:
        session_id: its name.
        attached: a socket holds it.
        created_at: when it was opened, by the server's clock.
        last_active: when its last call ended.
        calls: how many it has answered.
    """

    def __init__(
        self,
        session_id: str,
        host: Host,
        limits: Limits,
        clock: Callable[[], float],
        *,
        attached: bool,
        on_end: Callable[[Seat], None],
    ) -> None:
        self.session_id = session_id
        self.attached = attached
        self.created_at = self.last_active = clock()
        self.calls = 0
        self._host = host
        self._limits = limits
        self._clock = clock
        self._on_end = on_end
        self._stage = Stage.STARTING
        self._turn = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self._told: Callable[[SessionError], Awaitable[None]] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it takes requests, or will when its environment is built."""
        return self._stage in (Stage.STARTING, Stage.OPEN)

    @property
    def is_busy(self) -> bool:
        """Whether a call is running."""
        return self._turn.locked()

    async def start(self) -> None:
        """Builds the environment; on any failure the seat is given up."""
        building = asyncio.ensure_future(self._host.start())
        async with self._turn:
            try:
                await self._within(building, self._limits.reset_timeout)
            except BaseException:
                self._begin_close()
                raise
            self._stage = Stage.OPEN

    def serve(self, request: Request) -> Reply | Awaitable[Reply]:
        """Answers a request: at once if its host can, else something to await.

        Every failure is an `error` reply.
        """
        if self._turn.locked() or self._stage is not Stage.OPEN:
            return self._in_turn(request)
        try:
            outcome = self._host.serve(request)
        except SessionError as error:
            return error_reply(error)
        if isinstance(outcome, Reply):
            self._touch()
            return outcome
        return self._in_turn(request, outcome)

    async def idle(self) -> None:
        """Returns when no call is running."""
        async with self._turn:
            pass

    def on_close(self, tell: Callable[[SessionError], Awaitable[None]]) -> None:
        """Names whom to tell when the session is ended by the server."""
        self._told = tell

    async def expire(self, error: SessionError) -> None:
        """Begins to end the session from the server's side, and tells who holds it."""
        self._begin_close()
        if self._told is not None:
            await self._told(error)

    async def close(self) -> None:
        """Ends the session; returns when its environment is closed, or the grace is over."""
        await asyncio.wait([self._begin_close()], timeout=self._limits.close_grace)

    def forsake(self) -> None:
        """Waits no longer for a call that hangs; for a server that ends anyway."""
        if self._closing is not None:
            self._closing.cancel()

    async def _in_turn(
        self, request: Request, running: asyncio.Future[Reply] | None = None
    ) -> Reply:
        async with self._turn:
            try:
                if running is None:
                    running = self._ask(request)
                return await self._within(running, self._deadline(request))
            except SessionError as error:
                ends = isinstance(error, StepTimeout | HostCrashed)
                if ends:
                    self._begin_close()
                return error_reply(error, ends_session=ends)
            except BaseException:
                self._begin_close()
                raise
            finally:
                self._touch()

    def _ask(self, request: Request) -> asyncio.Future[Reply]:
        if self._stage is not Stage.OPEN:
            raise SessionNotFoundError(self.session_id)
        outcome = self._host.serve(request)
        if isinstance(outcome, Reply):
            running: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            running.set_result(outcome)
            return running
        return outcome

    def _deadline(self, request: Request) -> float | None:
        limits = self._limits
        limit = limits.reset_timeout if request.op == "reset" else limits.step_timeout
        asked = request.timeout_s
        return asked if limit is None or (asked is not None and asked < limit) else limit

    async def _within(self, running: asyncio.Future[ResultT], seconds: float | None) -> ResultT:
        """The result of a running call, or a `StepTimeout` that leaves the call behind."""
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = True
            self._host.kill()
            running.cancel()

        timer = None
        if seconds is not None:
            timer = asyncio.get_running_loop().call_later(seconds, expire)
        try:
            return await running
        except asyncio.CancelledError:
            if not expired:
                raise
            raise StepTimeout(
                f"the environment ran longer than {seconds:g} s, the server's limit; its session "
                "has ended, reset() begins a new one",
                timeout_s=seconds,
            ) from None
        finally:
            if timer is not None:
                timer.cancel()

    def _touch(self) -> None:
        self.calls += 1
        self.last_active = self._clock()

    def _begin_close(self) -> asyncio.Task[None]:
        if self._closing is None:
            self._stage = Stage.CLOSING
            self._closing = asyncio.ensure_future(self._end())
        return self._closing

    async def _end(self) -> None:
        overdue = asyncio.get_running_loop().call_later(self._limits.close_grace, self._host.kill)
        try:
            await self._host.close()
        except Exception:
            logger.warning("closing session %s failed", self.session_id, exc_info=True)
        finally:
            overdue.cancel()
            self._stage = Stage.GONE
            self._on_end(self)
