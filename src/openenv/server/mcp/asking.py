"""What the roads to tools ask of a session, and of the server for one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic_core import from_json

from openenv.protocol.errors import Json, SessionError
from openenv.protocol.messages import Request
from openenv.runtime.seat import Seat
from openenv.runtime.sessions import Sessions


async def ask(seat: Seat, request: Request) -> Json:
    """The data of a session's answer; whoever is cancelled while waiting cancels the call.

    Raises:
        SessionError: it answered with one.
    """
    try:
        reply = await seat.ask(request)
    except asyncio.CancelledError:
        seat.cancel_call("its caller cancelled it", request)
        raise
    told: Json = from_json(reply.body)
    if reply.type == "error":
        raise SessionError.from_data(told)
    return told


async def begun(
    sessions: Sessions, session_id: str | None = None, *, attached: bool = False
) -> Seat:
    """A new session whose episode has begun, as no agent can begin one; otherwise as `begin`."""
    seat, _ = await begin(sessions, session_id, attached=attached)
    return seat


async def begin(
    sessions: Sessions, session_id: str | None = None, *, attached: bool = False
) -> tuple[Seat, Json]:
    """Opens a session and begins its episode.

    Args:
        sessions: the server's.
        session_id: its name; a new one by default.
        attached: a socket holds it.

    Returns:
        The session, and the data of what the reset gave.

    Raises:
        SessionError: there was no room, or the environment failed.
    """
    seat = await sessions.open(session_id, attached=attached)
    try:
        return seat, await ask(seat, Request("reset"))
    except BaseException:
        seat.begin_close()
        raise


@asynccontextmanager
async def visit(sessions: Sessions, *, reset: bool) -> AsyncIterator[Seat]:
    """A session for as long as the block lasts; its environment is closed when it ends.

    Args:
        sessions: the server's.
        reset: begins an episode in it.

    Raises:
        SessionError: there was no room, or the environment failed.
    """
    seat = await (begun(sessions) if reset else sessions.open())
    try:
        yield seat
    finally:
        await seat.close()
