"""What every road over plain HTTP has in common: bodies, and calls that are waited for."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from openenv.protocol import messages
from openenv.protocol.errors import (
    InvalidRequest,
    Json,
    SessionCreationError,
    SessionError,
    SessionLost,
)
from openenv.protocol.messages import Reply, parse_object
from openenv.runtime.faults import invalid
from openenv.runtime.seat import Seat

ModelT = TypeVar("ModelT", bound=BaseModel)


class Calls:
    """The calls of one server that somebody waits for over HTTP."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[Reply]] = set()
        self._are_given_up = False

    def give_up(self) -> None:
        """Waits no longer for calls that hang; their callers are told that the server ends."""
        self._are_given_up = True
        for call in self._waiting:
            call.cancel()

    async def answer(self, seat: Seat, request: messages.Request) -> Reply:
        """What a session answers.

        Raises:
            SessionLost: the server ends first.
        """
        if self._are_given_up:
            raise _lost()
        call = asyncio.ensure_future(seat.ask(request))
        self._waiting.add(call)
        try:
            return await call
        except asyncio.CancelledError:
            if not call.cancelled():
                raise
            raise _lost() from None
        finally:
            self._waiting.discard(call)


def _lost() -> SessionLost:
    return SessionLost("the server ends, and its environment hangs")


async def refuse_episode() -> None:
    """A route's condition that never holds: of several processes, each call could reach another.

    Raises:
        SessionCreationError: always.
    """
    raise SessionCreationError(
        "several server processes share this port, so that a call over plain HTTP finds no episode "
        "again; use a client, which keeps a WebSocket, or serve with --workers 1 and "
        "--host-kind process"
    )


def told(reply: Reply) -> Json:
    """What is in a reply.

    Raises:
        SessionError: it is an error's.
    """
    content: Json = from_json(reply.body)
    if reply.type == "error":
        raise SessionError.from_data(content)
    return content


def parsed(model: type[ModelT], body: bytes) -> ModelT:
    """A request's body; its faults are located in the `body`, as FastAPI's own are.

    Raises:
        InvalidRequest: it is no JSON object, or does not fit.
    """
    try:
        try:
            return model.model_validate(parse_object(body))
        except ValidationError as error:
            raise invalid(error, "request body") from None
    except InvalidRequest as error:
        unread: Json = {"type": "json_invalid", "loc": [], "msg": error.message, "input": None}
        raise in_body(error, error.errors or [unread]) from None


def in_body(error: InvalidRequest, faults: list[Json]) -> InvalidRequest:
    """The same error, with these faults as they are found in a request's body."""
    located = [{**fault, "loc": ["body", *fault["loc"]]} for fault in faults]
    return InvalidRequest(error.message, code=error.code, errors=located)
