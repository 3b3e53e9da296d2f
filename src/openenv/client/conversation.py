"""Conversation: what each operation of a client does, as flows, without I/O.

The effects they yield are performed by a blocking or an awaiting driver.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from openenv._flow import Flow
from openenv.protocol.client import ClientProtocol, Turn
from openenv.protocol.episode import counted
from openenv.protocol.errors import (
    ENDING_CODES,
    ConcurrentCall,
    ConnectFailed,
    Json,
    SessionError,
    SessionLost,
)
from openenv.protocol.messages import Request

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Connect:
    """Effect: the client's `connect()`, which a subclass may override."""


@dataclass(frozen=True)
class Open:
    """Effect: one attempt to open the connection."""


@dataclass(frozen=True)
class Sleep:
    """Effect: wait before the next attempt."""

    seconds: float


@dataclass(frozen=True)
class Exchange:
    """Effect: send a frame and receive the answer; gives the answering frame."""

    frame: str
    timeout_s: float


@dataclass(frozen=True)
class Disconnect:
    """Effect: say goodbye with a frame and close the connection."""

    goodbye: str


Effect = Connect | Open | Sleep | Exchange | Disconnect

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0


class Conversation:
    """One client's session: whether there is one, and what became of it.

    Args:
        wait_s: how long the server may let a new session queue before its first answer.

    Attributes:
        protocol: the current connection's turns, `None` while there is no connection.
    """

    def __init__(self, wait_s: float = 0.0) -> None:
        self.protocol: ClientProtocol | None = None
        self._wait_s = wait_s
        self._admitted = False
        self._lost: str | None = None
        self._steps = 0
        self._running: object = None
        self._guard = threading.Lock()

    def adopt(self) -> None:
        """A connection stands ready."""
        self.protocol = ClientProtocol()
        self._admitted = False
        self._lost = None
        self._steps = 0

    def lose(self, why: str) -> None:
        """The connection is gone, and with it the session."""
        if self.protocol is not None:
            self.protocol = None
            self._lost = why

    def leave(self, why: str) -> None:
        """The session is another process's: whatever runs in it is not this one's business."""
        self.lose(why)
        self._running = None
        self._guard = threading.Lock()

    def open(self, retries: int) -> Flow[Effect, None]:
        """Opens the connection unless it is; tries again while the cause may pass.

        Raises:
            ConnectFailed: the last attempt's.
        """
        if self.protocol is None:
            call = object()
            try:
                self._begin(call, "connect")
                yield from _persistently(retries)
                self.adopt()
            finally:
                if self._running is call:
                    self._running = None

    def connect(self) -> Flow[Effect, None]:
        """Has the client connect, unless it is."""
        if self.protocol is None:
            yield Connect()

    def reset(
        self, keywords: Json, timeout_s: float, parse: Callable[[Json], ResultT]
    ) -> Flow[Effect, ResultT]:
        """Begins an episode, on a new session if the old one is gone."""
        yield from self.connect()
        data = yield from self._ask(Request("reset", keywords), timeout_s)
        self._steps = 0
        return parse(data)

    def step(
        self, payload: Json, timeout_s: float, parse: Callable[[Json], ResultT]
    ) -> Flow[Effect, ResultT]:
        """Takes one action; never in another session than the last call's."""
        self._require_session("step")
        yield from self.connect()
        data = yield from self._ask(Request("step", payload), timeout_s)
        self._steps += 1
        return parse(data)

    def state(self, timeout_s: float, parse: Callable[[Json], ResultT]) -> Flow[Effect, ResultT]:
        """Reads where the episode stands."""
        self._require_session("state")
        yield from self.connect()
        return parse((yield from self._ask(Request("state"), timeout_s)))

    def close(self) -> Flow[Effect, None]:
        """Ends the session and the connection; does nothing if there is none."""
        if self.protocol is not None:
            self.lose("the client was closed")
            yield Disconnect(Request("close").frame())

    def _require_session(self, operation: str) -> None:
        if self._lost is not None:
            taken = f" after {counted(self._steps)}" if self._steps else ""
            raise SessionLost(
                f"{operation}() has no episode to go on with{taken}: {self._lost}; call reset() to "
                "begin a new one",
                steps=self._steps,
            )

    def _ask(self, request: Request, timeout_s: float) -> Flow[Effect, Json]:
        call = object()
        try:
            self._begin(call, request.op)
            return (yield from self._converse(request, timeout_s))
        finally:
            if self._running is call:
                self._running = None

    def _converse(self, request: Request, timeout_s: float) -> Flow[Effect, Json]:
        protocol = self.protocol
        if protocol is None:
            raise SessionLost("connect() made no connection")
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
                self.lose(f"the last {request.op}() ended in {type(error).__name__}")
            raise
        finally:  # also when it was interrupted, wherever it stood
            if protocol.turn is not Turn.IDLE:
                protocol.abandon()
                self.lose(f"{request.op}() was interrupted")

    def _begin(self, call: object, operation: str) -> None:
        """Makes a call the only one. It begins within the `try` whose `finally` ends it.

        So an alarm that strikes at any moment leaves no call behind that is over.
        """
        with self._guard:
            if self._running is not None:
                raise ConcurrentCall(
                    f"{operation}() was called while another call is still running on this client; "
                    "a client holds one episode and one call at a time: use one client per rollout"
                )
            self._running = call


def _persistently(retries: int) -> Flow[Effect, None]:
    """Attempts to open the connection until one succeeds."""
    pause = FIRST_PAUSE_S
    for attempt in range(max(retries, 0) + 1):
        try:
            yield Open()
        except ConnectFailed as error:
            if attempt >= retries or not error.worth_retrying:
                raise
        else:
            return
        yield Sleep(pause * random.uniform(0.5, 1.0))  # spreads retries
        pause = min(pause * 2, LONGEST_PAUSE_S)
