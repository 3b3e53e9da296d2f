"""Resumable: a session that outlives its socket, and carries out each request exactly once."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import deque
from collections.abc import Callable
from typing import Protocol

from openenv.protocol.errors import SessionError, SessionGone, TakenOver, Unauthorized
from openenv.protocol.ledger import Ledger
from openenv.protocol.messages import Reply, Request, error_reply
from openenv.runtime.seat import Seat


class Asker(Protocol):
    """Who asked, and is answered if it still listens."""

    def answered(self, ident: int, seq: int | None, reply: Reply) -> None:
        """Takes the reply to one of its requests, told by the `ident` that it gave."""


class Holder(Protocol):
    """The channel that holds a session."""

    def ended(self, error: SessionError) -> None:
        """The session is no longer its own: it has ended, or somebody else holds it."""


class Resumable:
    """One session, its queue of requests, and who holds it.

    Requests run in order, one at a time. What runs goes on when the holder is cut off; the reply is
    kept for the request to be sent again.

    Attributes:
        seat: the session's place in the server.
        token: whoever knows it may take the session over.
        detached_at: since when nobody holds it; `None` while somebody does.
    """

    def __init__(
        self,
        seat: Seat,
        *,
        grace: float,
        clock: Callable[[], float],
        watch: Callable[[Seat], None],
    ) -> None:
        self.seat = seat
        self.token = secrets.token_urlsafe(24)
        self.detached_at: float | None = None
        self._grace = grace
        self._clock = clock
        self._watch = watch
        self._attended_limit = seat.idle_limit
        self._ledger = Ledger()
        self._holder: Holder | None = None
        self._queue: deque[tuple[Request, int | None, int, Asker]] = deque()
        self._running: tuple[int | None, int, Asker] | None = None
        self._catching_up = False
        self._paused = False
        self._idle: asyncio.Future[None] | None = None
        self._came_by: tuple[str, int] | None = None
        seat.on_close(self._end)

    @property
    def last_seq(self) -> int:
        """The last sequence number that was accepted."""
        return self._ledger.last

    @property
    def holds_nothing(self) -> bool:
        """Whether it could be given up without losing anything: nothing was ever asked of it."""
        return self._ledger.last == 0 and self._running is None and not self._queue

    def check(self, token: object) -> None:
        """Whether a token is this session's.

        Raises:
            Unauthorized: it is not.
        """
        given = token if isinstance(token, str) else ""
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            raise Unauthorized(f"the token is not that of session {self.seat.session_id!r}")

    def come_back(self, client: object, attempt: object) -> None:
        """Notes whose attempt to connect it is that resumes the session, if the client tells.

        A word that was held up in a connection its own client has given up comes too late.

        Raises:
            TakenOver: a later attempt of the same client was here already.
        """
        if not isinstance(client, str) or not isinstance(attempt, int):
            return
        if self._came_by is not None and client == self._came_by[0] and attempt < self._came_by[1]:
            raise TakenOver("a later connection of the same client holds this session")
        self._came_by = (client, attempt)

    def attach(self, holder: Holder, *, paused: bool = False) -> None:
        """Gives the session to a channel; whoever held it is told.

        Args:
            holder: the channel.
            paused: it takes no replies for now.
        """
        before, self._holder = self._holder, holder
        self.detached_at = None
        self._may_idle(self._attended_limit)
        self.pause(paused)
        if before is not None and before is not holder:
            before.ended(TakenOver("another connection has taken this session over with its token"))

    def detach(self, holder: Holder) -> bool:
        """The holder is cut off; whether the session waits for it to come back."""
        if self._holder is not holder:
            return True
        self._holder = None
        self.pause(False)
        if self._grace <= 0 or self.holds_nothing:
            return False
        self.detached_at = self._clock()
        self._may_idle(self._grace)
        return True

    def pause(self, on: bool) -> None:
        """Begins nothing more while its holder takes no replies; what waited is answered then."""
        self._paused = on
        self._catch_up()

    async def finish(self, within_s: float) -> None:
        """Returns when everything that was asked is answered, or time is up."""
        if self._running is not None:
            self._idle = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._idle], timeout=within_s)

    def ask(self, request: Request, seq: int | None, ident: int, asker: Asker) -> None:
        """Carries out a request after those before it, unless it was carried out already.

        Args:
            request: what is asked.
            seq: its sequence number, if it changes the session.
            ident: given back to the asker with the reply.
            asker: takes the reply; every failure is an `error` reply.
        """
        running = self._running
        if running is None and not self._queue and not self._paused:
            self._carry_out(request, seq, ident, asker)
        else:
            self._queue.insert(self._turn(seq), (request, seq, ident, asker))

    def _turn(self, seq: int | None) -> int:
        """The place in the queue: the last, or right after the same request that came before.

        Behind later ones it would be answered `STALE_SEQ`: of the last alone the reply is kept.
        """
        queue = self._queue
        if seq is not None:
            for place in range(len(queue), 0, -1):
                before = queue[place - 1][1]
                if before == seq:
                    return place
                if before is not None and before < seq:
                    return len(queue)
            if self._running is not None and self._running[0] == seq:
                return 0
        return len(queue)

    def _may_idle(self, seconds: float | None) -> None:
        self.seat.idle_limit = seconds
        self.seat.touch()
        self._watch(self.seat)

    def _carry_out(self, request: Request, seq: int | None, ident: int, asker: Asker) -> None:
        if not self.seat.is_open:
            return asker.answered(ident, seq, error_reply(self._gone()))
        if seq is not None:
            try:
                kept = self._ledger.admit(seq, request.op)
            except SessionError as error:
                return asker.answered(ident, seq, error_reply(error))
            if kept is not None:
                return asker.answered(ident, seq, kept)
        self._running = (seq, ident, asker)
        self.seat.serve(request, self._answered)
        return None

    def _answered(self, reply: Reply) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        seq, ident, asker = running
        if seq is not None:
            self._ledger.settle(reply)
        asker.answered(ident, seq, reply)
        if self._queue:
            self._catch_up()
        elif self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def _catch_up(self) -> None:
        if self._catching_up:  # an answer that was there at once comes back here
            return
        self._catching_up = True
        try:
            while self._queue and self._running is None and not self._paused:
                self._carry_out(*self._queue.popleft())
        finally:
            self._catching_up = False

    def _end(self, error: SessionError) -> None:
        """The server has ended the session."""
        holder, self._holder = self._holder, None
        if holder is not None:
            holder.ended(self._gone(error.message))
        self.pause(False)  # what still waits is answered

    def _gone(self, why: str = "its last call ended the session, or its server") -> SessionGone:
        return SessionGone(why, session_id=self.seat.session_id)
