"""Seat: one session as its server sees it — its host, its deadlines and its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from enum import Enum
from functools import partial

from openenv.env.tool_models import ToolErrorType
from openenv.protocol.errors import (
    HostCrashed,
    SessionCreationError,
    SessionError,
    SessionNotFoundError,
)
from openenv.protocol.messages import Reply, Request, as_tool_request, error_reply
from openenv.runtime.deadline import Deadline, overdue_after
from openenv.runtime.disclosure import disclosed
from openenv.runtime.host import Host
from openenv.runtime.late import MAY_BE_GIVEN_UP, Late, called, forget, keeps_slot, timed_out
from openenv.runtime.showing import Deliver, patience, showing
from openenv.runtime.tap import Tap
from openenv.runtime.terms import Terms
from openenv.runtime.tooling import called_off

logger = logging.getLogger("openenv.sessions")


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

    A tool's call that outlasts its deadline, or is cancelled, is answered so and interrupted, and
    the session lives: what is asked next waits until the environment is free again. For a view it
    waits but a little, and is then answered that it was not begun.

    Attributes:
        session_id: its name.
        attached: a socket holds it, or may come back to it.
        is_open: it takes requests, or will when its environment is built.
        idle_limit: how long it may do nothing, in seconds; `None` for ever.
        last_active: when its last call ended, or its environment was built.
        joinable: a `/ws` socket may attach itself to it by its id.
        ends_with_socket: it ends when the socket that is attached leaves.
        listener: whom to tell when the server ends it.
        was_reset: somebody has asked for a reset.
        is_named: a trainer chose its name, which others could guess.
        tap: tells those who look on, where somebody may.
    """

    def __init__(
        self,
        session_id: str,
        host: Host,
        terms: Terms,
        *,
        attached: bool,
        on_end: Callable[[Seat], None],
    ) -> None:
        limits, clock = terms.limits, terms.clock
        self.session_id = session_id
        self.attached = attached
        self.is_open = True
        self.idle_limit = limits.idle_timeout if attached else limits.unattached_timeout
        self.last_active = clock()
        self.joinable = not attached
        self.ends_with_socket = False
        self.was_reset = False
        self.is_named = False
        self.tap: Tap | None = None
        self.listener: Callable[[SessionError], None] | None = None
        self._host = host
        self._limits = limits
        self._traits = terms.traits
        self._mode = terms.mode
        self._clock = clock
        self._on_end = on_end
        self._stage = Stage.STARTING
        self._turn = asyncio.Lock()
        self._request = Request("close")
        self._running: asyncio.Future[Reply] | None = None
        self._late: Late | None = None
        self._deliver: Deliver | None = None
        self._deadline = Deadline(self._overrun)
        self._closing: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a call is running."""
        return self.is_awaited or self._late is not None

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for a call."""
        return self._running is not None or self._turn.locked()

    @property
    def is_recovering(self) -> bool:
        """Whether a call that was given up still runs."""
        return self._late is not None

    async def start(self) -> None:
        """Builds the environment; on any failure the seat is given up.

        Raises:
            EnvironmentFactoryError: its constructor raised.
            StepTimeout: it took longer than `limits.reset_timeout`.
            SessionCreationError: it was closed meanwhile, or there was no thread or process for it.
        """
        async with self._turn:
            try:
                await self._build()
            except asyncio.TimeoutError:
                overdue = overdue_after(self._limits.reset_timeout)
                self._log(overdue)
                self._host.kill()
                self.begin_close()
                raise overdue from None
            except BaseException as error:
                if isinstance(error, HostCrashed):
                    self._log(error)
                self.begin_close()
                if isinstance(error, SessionError):
                    raise disclosed(error, self._mode) from error.__cause__
                if not isinstance(error, Exception):
                    raise
                raise SessionCreationError(f"{type(error).__name__}: {error}") from error
            if self._stage is not Stage.STARTING:
                self._host.kill()
                raise SessionCreationError("the server is stopping")
            self._stage = Stage.OPEN
            self.touch()

    async def _build(self) -> None:
        """As `asyncio.wait_for`, which up to Python 3.11 loses a cancellation at its end."""
        starting = asyncio.ensure_future(self._host.start())
        starting.add_done_callback(forget)
        try:
            _, late = await asyncio.wait([starting], timeout=self._limits.reset_timeout)
        finally:
            if not starting.done():
                starting.cancel()
                await asyncio.wait([starting])
        if late and starting.cancelled():
            raise asyncio.TimeoutError
        starting.result()

    def serve(self, request: Request, deliver: Deliver) -> None:
        """Answers a request, at once if its host can; after the running call, if there is one.

        Args:
            request: what is asked.
            deliver: takes the reply; every failure is an `error` reply.
        """
        if self._stage is not Stage.OPEN:
            gone = SessionNotFoundError(self.session_id)
            return deliver(error_reply(gone, ends_session=True))
        if request.op == "reset":
            self.was_reset = True
        if self._traits.has_tools:
            request = as_tool_request(request, untyped=self._traits.untyped_calls)
        if self._running is not None:  # of another road to the same session
            return self._serve_in_turn(request, deliver)
        return self._serve_now(request, deliver)

    def _serve_now(self, request: Request, deliver: Deliver) -> None:
        if request.view:
            deliver = showing(self, request, deliver, self._limits.max_reply_bytes)
        if self.tap is not None:
            deliver = self.tap.around(request, deliver)
        if self._late is not None:
            return self._hold_back(request, deliver, self._late)
        try:
            outcome = self._host.serve(request)
        except Exception as error:  # noqa: BLE001  # every failure is answered
            return deliver(self._fault(error))
        if isinstance(outcome, Reply):
            self.last_active = self._clock()
            return deliver(outcome)
        return self._hold(request, deliver, outcome)

    def cancel_call(self, reason: str, request: Request | None = None) -> None:
        """Gives up the running call of a tool, if there is one; its caller is told why.

        Args:
            reason: why.
            request: gives up this call only, and none if it is not the running one.
        """
        is_meant = request is None or request is self._request
        if self._running is not None and is_meant and self._request.op == "call_tool":
            self._log_call(f"was cancelled: {reason}")
            self._call_off(called_off(self._request, ToolErrorType.EXECUTION_ERROR, reason))

    async def ask(self, request: Request) -> Reply:
        """Answers a request after those that were asked before."""
        async with self._turn:
            await self.idle()  # the last one to ask may have left before its answer
            answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

            def deliver(reply: Reply) -> None:
                if not answer.done():
                    answer.set_result(reply)

            self.serve(request, deliver)
            return await answer

    def _serve_in_turn(self, request: Request, deliver: Deliver) -> None:
        asking = asyncio.ensure_future(self.ask(request))
        asking.add_done_callback(lambda asked: deliver(asked.result()))

    async def idle(self) -> None:
        """Returns when no call is running."""
        while self._running is not None:
            await asyncio.wait([self._running])
            await asyncio.sleep(0)

    def touch(self) -> None:
        """Somebody was here: its idle time begins anew."""
        self.last_active = self._clock()

    def on_close(self, tell: Callable[[SessionError], None]) -> None:
        """Names whom to tell when the session is ended by the server."""
        self.listener = tell

    def expire(self, error: SessionError) -> None:
        """Begins to end the session from the server's side, and tells who holds it."""
        self.begin_close()
        if self.listener is not None:
            self.listener(error)

    async def close(self) -> None:
        """Ends the session; returns when its environment is closed, or the grace is over."""
        await asyncio.wait([self.begin_close()], timeout=self._limits.close_grace)

    async def forsake(self) -> None:
        """Waits no longer for a call that hangs; for a server that ends anyway."""
        killed = self._host.kill()
        closing = self.begin_close()
        if killed:
            await asyncio.wait([closing], timeout=self._limits.close_grace)
        closing.cancel()
        await asyncio.wait([closing])

    def _hold(self, request: Request, deliver: Deliver, running: asyncio.Future[Reply]) -> None:
        self._request, self._deliver, self._running = request, deliver, running
        self._deadline.set(self._patience(request))
        running.add_done_callback(self._finish)

    def _hold_back(self, request: Request, deliver: Deliver, late: Late) -> None:
        """Begins a call when another one, that was given up, has ended."""
        if not late.is_view:
            return self._hold(request, deliver, late.then(partial(self._host.serve, request)))
        seconds = self._patience(request)

        def begin() -> Reply | asyncio.Future[Reply]:
            self._deadline.set(seconds)
            return self._host.serve(request)

        self._hold(request, deliver, late.then(begin))
        return self._deadline.set(patience(seconds))

    def _call_off(self, reply: Reply) -> None:
        """Answers the running call, which is interrupted; the session goes on after it."""
        running, self._running = self._running, None
        if running is None:
            return
        running.remove_done_callback(self._finish)
        if self._late is None:
            self._late = Late(self._request, running)
            running.add_done_callback(self._recovered)
            self._host.interrupt()
        else:  # it still waited for another one, and never begins
            running.cancel()
        self._conclude(reply)

    def _recovered(self, late: asyncio.Future[Reply]) -> None:
        """A call that was given up is over; if its host has ended with it, so does the session."""
        if self._stage is Stage.OPEN:  # else it is asked who keeps the slot
            self._late = None
        error = None if late.cancelled() else late.exception()
        if isinstance(error, HostCrashed) and self._stage is Stage.OPEN:
            self._log(error)
            self.expire(disclosed(error, self._mode))

    def _finish(self, running: asyncio.Future[Reply]) -> None:
        self._running = None
        try:
            reply = running.result()
        except BaseException as error:  # noqa: BLE001  # every failure is answered
            reply = self._fault(error)
        self._conclude(reply)

    def _fault(self, error: BaseException) -> Reply:
        """The answer to a call that gave none; but for typed errors, the session ends with it."""
        if isinstance(error, SessionError) and not isinstance(error, HostCrashed):
            return error_reply(error)
        self.begin_close()
        if isinstance(error, HostCrashed):
            self._log(error)
            return error_reply(disclosed(error, self._mode), ends_session=True)
        if not isinstance(error, asyncio.CancelledError):
            logger.error("a call of session %s failed", self.session_id, exc_info=error)
        return error_reply(SessionNotFoundError(self.session_id), ends_session=True)

    def _conclude(self, reply: Reply) -> None:
        deliver, self._deliver = self._deliver, None
        self._deadline.clear()
        self.touch()
        if deliver is not None:
            deliver(reply)

    def _patience(self, request: Request) -> float | None:
        limits = self._limits
        limit = limits.reset_timeout if request.op == "reset" else limits.step_timeout
        asked = request.timeout_s
        if request.op == "call_tool" and asked is None:
            name = request.data.get("tool_name")
            own = self._traits.tool_timeouts.get(name) if isinstance(name, str) else None
            asked = own or limits.tool_timeout
        return asked if limit is None or (asked is not None and asked < limit) else limit

    def _overrun(self, seconds: float) -> None:
        """The running call has had its time: the session ends, and nobody waits for the call."""
        if self._late is not None and self._late.is_view:
            return self._call_off(error_reply(self._late.refusal(self._request)))
        if self._request.op in MAY_BE_GIVEN_UP:
            late = timed_out(seconds, self._late)
            self._log_call(late)
            told = f"{called(self._request)} {late}"
            return self._call_off(called_off(self._request, ToolErrorType.TIMEOUT, told))
        error = overdue_after(seconds)
        self._log(error)
        self._host.kill()
        self._abandon(error)
        self.begin_close()
        return None

    def _log(self, error: SessionError) -> None:
        logger.warning("session %s failed: %s", self.session_id, error)

    def _log_call(self, what: str) -> None:
        logger.warning("%s of session %s %s", called(self._request), self.session_id, what)

    def _abandon(self, error: SessionError) -> None:
        """Answers the running call with an error; whatever it still gives is for nobody."""
        running, self._running = self._running, None
        if running is not None:
            running.remove_done_callback(self._finish)
            running.add_done_callback(forget)
            if self._request.op in MAY_BE_GIVEN_UP:
                self._late = self._late or Late(self._request, running)
                self._host.interrupt()
            running.cancel()
            self._conclude(error_reply(error, ends_session=True))

    def begin_close(self) -> asyncio.Task[None]:
        """Begins to end the session; gives what is done when its environment is closed."""
        if self._closing is None:
            self._stage, self.is_open = Stage.CLOSING, False
            self._abandon(SessionNotFoundError(self.session_id))
            if self.tap is not None:
                self.tap.ended()
            self._closing = asyncio.ensure_future(self._end())
        return self._closing

    async def _end(self) -> None:
        overdue = asyncio.get_running_loop().call_later(self._limits.close_grace, self._overstay)
        try:
            await self._host.close()
        except Exception:
            logger.warning("closing session %s failed", self.session_id, exc_info=True)
        finally:
            overdue.cancel()
            self._deadline.cancel()
            self._stage = Stage.GONE
            self._on_end(self)

    def _overstay(self) -> None:
        """The environment is not closed in time: it is killed, or keeps its slot until it is."""
        if not self._host.kill():
            grace = self._limits.close_grace
            logger.warning("session %s %s", self.session_id, keeps_slot(grace, self._late))
