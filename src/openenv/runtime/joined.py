"""Joined: a `/ws` socket in a session that was made elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from openenv.protocol.errors import SessionError
from openenv.runtime.seat import Seat


class Joined:
    """The one `/ws` socket that is attached to a session by its id; the session may outlive it.

    Args:
        seat: the session's.
        idle_limit: how long it may do nothing meanwhile, in seconds; `None` for ever.
        watch: has the session end when it is idle for long, again, after the socket has left.

    Attributes:
        seat: the session's.

    Raises:
        SessionError: another socket holds the session, or is attached to it.
    """

    def __init__(self, seat: Seat, idle_limit: float | None, watch: Callable[[Seat], None]) -> None:
        if not seat.joinable:
            raise SessionError(
                f"Session {seat.session_id} already has an attached WebSocket; close that first"
            )
        self.seat = seat
        self._watch = watch
        self._before = seat.idle_limit, seat.listener
        seat.joinable, seat.idle_limit = False, idle_limit

    async def leave(self) -> None:
        """The socket leaves; the session ends if that was asked for meanwhile, or lives on."""
        seat = self.seat
        if seat.ends_with_socket:
            return await seat.close()
        seat.joinable = True
        seat.idle_limit, seat.listener = self._before
        seat.touch()
        self._watch(seat)
        return None
