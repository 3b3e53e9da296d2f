"""Exchanges: wire v1 as a client speaks it, one request and one answer in turn. Flows, no I/O."""

from __future__ import annotations

from typing import Any

from openenv._flow import Flow
from openenv.client.effects import Disconnect, Effect, Exchange
from openenv.protocol.client import ClientProtocol, Turn
from openenv.protocol.errors import ENDING_CODES, Json, SessionError
from openenv.protocol.messages import Request


class Exchanges:
    """One session over one connection, gone when either is.

    Args:
        wait_s: how long the server may let the session queue before its first answer.

    Attributes:
        lost: why the session is gone; `None` while it is there.
    """

    def __init__(self, wait_s: float) -> None:
        self.lost: str | None = None
        self._protocol = ClientProtocol()
        self._wait_s = wait_s
        self._admitted = False

    def ask(self, request: Request, timeout_s: float) -> Flow[Effect, Json]:
        """Sends a request and waits for its answer.

        Raises:
            SessionError: the server's typed answer.
            ReplyTimeout: the time was up; the session is lost.
        """
        protocol = self._protocol
        try:
            frame = protocol.send(request)
            queueing = 0.0 if self._admitted else self._wait_s
            answer: Any = yield Exchange(frame, timeout_s + queueing)
            data = protocol.receive(answer)
            self._admitted = True
            return data
        except Exception as error:
            fatal = isinstance(error, SessionError) and error.code in ENDING_CODES
            if fatal or protocol.turn is not Turn.IDLE:
                self.lost = f"the last {request.op}() ended in {type(error).__name__}"
            raise
        finally:  # also when it was interrupted, wherever it stood
            if protocol.turn is not Turn.IDLE:
                protocol.abandon()
                self.lost = self.lost or f"{request.op}() was interrupted"

    def close(self) -> Flow[Effect, None]:
        """Ends the session and the connection."""
        yield Disconnect(Request("close").frame())
