"""A client's side of a v1 conversation: one request, one reply, strictly in turn."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from openenv.protocol.errors import (
    ConcurrentCall,
    InvalidRequest,
    Json,
    ProtocolError,
    SessionError,
)
from openenv.protocol.messages import REPLY_TYPE, Operation, Request, parse_object
from openenv.protocol.rpc_client import error_in, object_in


class Turn(Enum):
    """Whose turn it is."""

    IDLE = "idle"
    WAITING = "waiting"
    BROKEN = "broken"


@dataclass
class ClientProtocol:
    """Pairs each request of one connection with its reply.

    v1 has no request ids, so a reply that is not waited for can never be told from the next
    one: once a wait was given up (`abandon`), or the server broke the rules, the conversation is
    BROKEN for good and only a new connection helps.
    """

    turn: Turn = Turn.IDLE
    _op: Operation = "reset"

    def send(self, request: Request) -> str:
        """The frame to send, after which a reply must be received.

        Raises:
            ConcurrentCall: a reply is still awaited.
            ProtocolError: the conversation is broken.
        """
        if self.turn is Turn.WAITING:
            raise ConcurrentCall(
                f"{request.op}() was called while {self._op}() is still running on this client; a "
                "client holds one episode and one call at a time: use one client per rollout"
            )
        if self.turn is Turn.BROKEN:
            raise ProtocolError("this conversation is broken; open a new connection")
        frame = request.frame()
        self.turn = Turn.WAITING
        self._op = request.op
        return frame

    def receive(self, frame: str | bytes) -> Json:
        """The data of the reply in a frame.

        Raises:
            SessionError: the server answered with a typed error; the conversation goes on, unless
                nothing had been asked.
            ProtocolError: the frame is no answer to what was asked; the conversation is broken.
        """
        asked, self.turn = self.turn, Turn.BROKEN
        try:
            message = parse_object(frame)
        except InvalidRequest as error:
            raise ProtocolError(f"the server sent something unreadable: {error.message}") from error
        kind, data = message.get("type"), message.get("data")
        if not isinstance(data, dict):
            raise ProtocolError(f"the server sent a {kind!r} frame without a data object")
        expected = asked is Turn.WAITING and kind in ("error", REPLY_TYPE.get(self._op))
        self.turn = Turn.IDLE if expected else Turn.BROKEN
        if kind == "error":
            raise SessionError.from_data(data)
        if not expected:
            raise ProtocolError(f"the server answered {self._op!r} with a {kind!r} frame")
        return data

    def abandon(self) -> None:
        """The wait for a reply was given up."""
        self.turn = Turn.BROKEN


def raise_uninvited(frame: str | bytes) -> NoReturn:
    """Raises what a frame means that nobody asked for: the server's parting error, or a fault."""
    with suppress(ProtocolError):
        if (failure := error_in(object_in(frame))) is not None:
            raise failure.typed()
        ClientProtocol().receive(frame)
    raise ProtocolError("the server sent a frame that nobody asked for")
