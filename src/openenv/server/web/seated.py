"""The session of the shared episode: one of the server's, opened when somebody plays."""

from __future__ import annotations

from collections.abc import Callable

from openenv.protocol.errors import ResetRequired
from openenv.protocol.messages import Reply, Request
from openenv.runtime.host import Host
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions
from openenv.server.calls import Calls
from openenv.server.web.shared_episode import SharedEpisode


class Seated:
    """Has a seat answer, and opens one for the first reset.

    It counts in the capacity, and ends when nobody has played for as long as a session that was
    made over HTTP may be idle.

    Args:
        sessions: the server's.
        calls: those that are waited for.
        host: makes the place where the environment lives; the server's kind of place by default.

    Attributes:
        on_end: called when the session has ended.
    """

    def __init__(
        self, sessions: Sessions, calls: Calls, host: Callable[[], Host] | None = None
    ) -> None:
        self.on_end: Callable[[], None] = _nothing
        self._sessions = sessions
        self._calls = calls
        self._host = host
        self._seat: Seat | None = None

    async def ask(self, request: Request) -> Reply:
        """What the session answers; one call at a time.

        Raises:
            ResetRequired: there is none, and this begins none.
            SessionError: it could not be opened, or was given up.
        """
        seat = self._seat
        if seat is None or not seat.is_open:
            seat = await self._open(request)
        reply = await self._calls.answer(seat, request)
        if reply.ends_session:
            self.on_end()
        return reply

    async def _open(self, request: Request) -> Seat:
        traits = self._sessions.spec.traits
        if request.op == "state" or (request.op == "step" and traits.requires_reset):
            raise ResetRequired("no episode has begun here; POST /web/reset first")
        host = None if self._host is None else self._host()
        self._seat = seat = await self._sessions.open(host=host)
        seat.on_close(lambda _: self.on_end())
        return seat


def seated_episode(
    sessions: Sessions, calls: Calls, host: Callable[[], Host] | None = None
) -> SharedEpisode:
    """An episode that a session of a server's plays; arguments as of `Seated`."""
    seated = Seated(sessions, calls, host)
    episode = SharedEpisode(sessions.spec, seated.ask)
    seated.on_end = episode.forget
    return episode


def _nothing() -> None:
    pass
