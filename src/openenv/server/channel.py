"""Channel: one session as a v2 socket holds it, or the way to one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from openenv.protocol.errors import (
    InvalidRequest,
    Json,
    SessionError,
    SessionGone,
)
from openenv.protocol.messages import Reply, Request, error_reply
from openenv.protocol.values import encode
from openenv.runtime.resumable import Asker, Resumable
from openenv.runtime.sessions import Sessions

LAST_CALL_S = 5.0
"""How long a call may still run when its channel is closed, before the session is ended anyway."""


class Socket(Protocol):
    """What a channel needs of its socket."""

    sessions: Sessions
    choked: bool

    def say(self, reply: Reply, ident: int | None, channel: int, seq: int | None) -> None:
        """Sends a reply, or without an `ident` a word that nobody asked for."""

    def settled(self) -> None:
        """One request fewer is without its reply."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Does some work, for as long as the socket is there."""

    def dismiss(self, number: int) -> None:
        """A channel was closed: its number is free."""


class Channel:
    """Requests to one session; those that come while it is opened or closed wait for that.

    Attributes:
        number: the client's name for it.
    """

    __slots__ = ("_closed", "_gone", "_moving", "_session", "_socket", "_waiting", "number")

    def __init__(self, number: int, socket: Socket) -> None:
        self.number = number
        self._socket = socket
        self._moving = False
        self._closed = False
        self._session: Resumable | None = None
        self._gone: SessionError | None = None
        self._waiting: deque[Callable[[], None]] = deque()

    @property
    def has_ended(self) -> bool:
        """Whether it has no session (any more), and none is being opened."""
        return not self._moving and (self._session is None or not self._session.seat.is_open)

    def submit(
        self, request: Request, seq: int | None, ident: int, asker: Asker | None = None
    ) -> None:
        """Asks its session for something; the reply goes to the asker, or over the socket."""
        if self._moving:
            self._waiting.append(lambda: self.submit(request, seq, ident, asker))
        elif self._session is not None:
            self._session.ask(request, seq, ident, asker or self)
        else:
            gone = self._gone or SessionGone("this channel has no session; open it first")
            (asker or self).answered(ident, seq, error_reply(gone))

    def answered(self, ident: int, seq: int | None, reply: Reply) -> None:
        """Sends the reply to a request of its own."""
        self._socket.say(reply, ident, self.number, seq)
        self._socket.settled()

    def ended(self, error: SessionError) -> None:
        """Tells the client that the session is not its own any more."""
        self._session, self._gone = None, error
        self._socket.say(error_reply(error), None, self.number, None)

    def pause(self, on: bool) -> None:
        """The client takes no replies for now, or does again."""
        if self._session is not None:
            self._session.pause(on)

    def move(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Opens or closes its session, in its turn: what is asked from now on comes after it."""
        if self._moving:
            self._waiting.append(lambda: self.move(work))
        else:
            self._moving = True
            self._socket.run(self._moved(work))

    async def open(self, data: Json) -> Reply:
        """Opens a session or comes back to one; the `opened` reply, or an error."""
        self._closed = False
        try:
            session, resumed = await self._find(data)
        except SessionError as error:
            self._gone = error
            return error_reply(error)
        self._session, self._gone = session, None
        session.attach(self, paused=self._socket.choked)
        return self._opened(session, resumed)

    async def close(self, *, now: bool = False) -> Reply:
        """Ends the session, after what it still has to do unless that is not wanted any more."""
        session, self._session = self._session, None
        self._closed, self._gone = True, SessionGone("this channel was closed; open it again")
        if session is not None:
            try:
                if not now:
                    await session.finish(within_s=LAST_CALL_S)
            finally:  # also if the client does not wait for it
                session.seat.begin_close()
                session.pause(False)
                await session.seat.close()
        return Reply("closed", b"{}")

    def drop(self) -> None:
        """Begins to end the session at once; nobody waits for that."""
        session, self._session = self._session, None
        if session is not None:
            session.seat.begin_close()
            session.pause(False)

    async def leave(self) -> None:
        """The socket is gone: the session waits for its client, or ends if it would in vain."""
        session, self._session = self._session, None
        if session is not None and not session.detach(self):
            await session.seat.close()

    async def _moved(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()  # if that is cancelled the socket is gone, and who waits with it
        finally:
            self._moving = False
        while self._waiting and not self._moving:
            self._waiting.popleft()()
        if self._closed and not self._moving:
            self._socket.dismiss(self.number)

    async def _find(self, data: Json) -> tuple[Resumable, bool]:
        wanted, wait_s = data.get("session_id"), data.get("wait_s") or 0.0
        patient = isinstance(wait_s, int | float) and wait_s >= 0  # NaN is not
        curious = data.get("queue", False)
        if not isinstance(wanted, str | None) or not patient or not isinstance(curious, bool):
            raise InvalidRequest(
                "open takes a 'session_id' of text, a 'wait_s' of seconds, and a 'queue' that is "
                "true or false"
            )
        held = self._session
        if held is not None and held.seat.is_open and wanted in (None, held.seat.session_id):
            if wanted is not None:
                held.check(data.get("token"))
            return held, wanted is not None
        if held is not None:
            await self.leave()
        sessions = self._socket.sessions
        if wanted is not None:
            session = sessions.resume(wanted, data.get("token"))
            session.come_back(data.get("client"), data.get("attempt"))
            return session, True
        tell = self._tell_place if curious else None
        return await sessions.open_resumable(wait_s=wait_s, tell=tell), False

    def _tell_place(self, position: int, waiting: int) -> None:
        place = Reply("queued", encode({"position": position, "waiting": waiting}))
        self._socket.say(place, None, self.number, None)

    def _opened(self, session: Resumable, resumed: bool) -> Reply:
        return Reply(
            "opened",
            encode(
                {
                    "session_id": session.seat.session_id,
                    "token": session.token,
                    "resumed": resumed,
                    "seq": session.last_seq,
                    "limits": self._socket.sessions.limits.published(),
                }
            ),
        )
