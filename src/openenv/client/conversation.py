"""Conversation: what each operation of a client does, as flows, without I/O.

The effects they yield are performed by a blocking or an awaiting driver. Which version of the wire
is spoken shows only here.
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable
from typing import TypeVar

from openenv._flow import Flow
from openenv.client.dialogue import Dialogue
from openenv.client.effects import Connect, Effect, Open, Sleep
from openenv.client.endpoint import Endpoint
from openenv.client.exchanges import Exchanges
from openenv.client.lifeline import Lifeline
from openenv.protocol.envelope import Encoding
from openenv.protocol.episode import counted
from openenv.protocol.errors import ConcurrentCall, ConnectFailed, Json, SessionGone, SessionLost
from openenv.protocol.messages import Request

ResultT = TypeVar("ResultT")

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0
BEYOND_S = 10.0
"""How much longer than the server's own limit a client waits that was told no time."""


class Conversation:
    """One client's session: whether there is one, and what became of it.

    Args:
        endpoint: how the server is reached.
        timeout_s: how long a call waits that says nothing else; `None` as long as the server
            allows, if it tells, else a minute.
        lost: why there is no session to go on with; `None` if there need not be.

    Attributes:
        protocol: what is spoken: `v1`, `v2+msgpack` or `v2+json`; `None` before the first word.
    """

    def __init__(
        self, endpoint: Endpoint, timeout_s: float | None = None, lost: str | None = None
    ) -> None:
        self.protocol: str | None = None
        self._endpoint = endpoint
        self._timeout = timeout_s
        self._talk: Exchanges | Lifeline | None = None
        self._lost = lost
        self._steps = 0
        self._running: object = None
        self._guard = threading.Lock()

    @property
    def is_connected(self) -> bool:
        """Whether there is a session, or one that may be resumed."""
        return self._talk is not None

    def adopt(self) -> None:
        """A connection stands ready that was made elsewhere: it speaks v1."""
        self._talk, self.protocol = Exchanges(self._endpoint.wait_s), "v1"
        self._lost, self._steps = None, 0

    def lose(self, why: str) -> None:
        """The connection is gone, and with it the session."""
        if self._talk is not None:
            self._talk = None
            self._lost = why

    def cut(self, why: str) -> None:
        """The connection is gone; the session too, unless it can be resumed."""
        if isinstance(self._talk, Lifeline):
            self._talk.cut()
        else:
            self.lose(why)

    def leave(self, why: str) -> None:
        """The session is another process's: whatever runs in it is not this one's business."""
        self.lose(why)
        self._running = None
        self._guard = threading.Lock()

    def open(self) -> Flow[Effect, None]:
        """Opens the session unless it is; tries again while the cause may pass.

        Raises:
            ConnectFailed: the last attempt's.
            SessionError: a v2 server refused the session.
        """
        if self._talk is None:
            yield from self._alone("connect", self._open())

    def connect(self) -> Flow[Effect, None]:
        """Has the client connect, unless it is."""
        if self._talk is None:
            yield Connect()

    def reset(
        self, keywords: Json, timeout_s: float | None, parse: Callable[[Json], ResultT]
    ) -> Flow[Effect, ResultT]:
        """Begins an episode, on a new session if the old one is gone."""
        request = Request("reset", keywords)
        yield from self.connect()
        try:
            data = yield from self._alone("reset", self._converse(request, timeout_s))
        except SessionGone:  # and its server, which was the client's own: there is another now
            yield from self.connect()
            data = yield from self._ask(request, timeout_s)
        self._steps = 0
        return parse(data)

    def step(
        self,
        payload: Json,
        timeout_s: float | None,
        parse: Callable[[Json], ResultT],
        limit_s: float | None = None,
    ) -> Flow[Effect, ResultT]:
        """Takes one action; never in another session than the last call's.

        Args:
            payload: the action.
            timeout_s: how long the answer is awaited.
            parse: reads it.
            limit_s: how long the action may take, for the server, where it can be told.
        """
        self._require_session("step")
        yield from self.connect()
        data = yield from self._ask(Request("step", payload, limit_s), timeout_s)
        self._steps += 1
        return parse(data)

    def state(
        self, timeout_s: float | None, parse: Callable[[Json], ResultT]
    ) -> Flow[Effect, ResultT]:
        """Reads where the episode stands."""
        self._require_session("state")
        yield from self.connect()
        return parse((yield from self._ask(Request("state"), timeout_s)))

    def close(self) -> Flow[Effect, None]:
        """Ends the session and the connection; does nothing if there is none."""
        talk = self._talk
        if talk is not None:
            self.lose("the client was closed")
            yield from talk.close()

    def _open(self) -> Flow[Effect, None]:
        endpoint = self._endpoint
        agreed = yield from persistently(endpoint.connect_retries)
        encoding = Encoding.agreed(agreed)
        if encoding is None:
            return self.adopt()
        lifeline = Lifeline(Dialogue(encoding, endpoint.max_message_bytes), endpoint.wait_s)
        self._talk, self.protocol = lifeline, encoding.value.removeprefix("openenv.")
        try:
            yield from lifeline.open(self._patience("reset", None))
        except BaseException:
            self._talk = None
            raise
        self._lost, self._steps = None, 0
        return None

    def _require_session(self, operation: str) -> None:
        lost = self._lost
        if isinstance(self._talk, Lifeline):
            lost = self._talk.lost
        if lost is not None:
            taken = f" after {counted(self._steps)}" if self._steps else ""
            raise SessionLost(
                f"{operation}() has no episode to go on with{taken}: {lost}; call reset() to "
                "begin a new one",
                steps=self._steps,
            )

    def _ask(self, request: Request, timeout_s: float | None) -> Flow[Effect, Json]:
        try:
            return (yield from self._alone(request.op, self._converse(request, timeout_s)))
        except SessionGone as gone:
            raise SessionLost(gone.message, steps=self._steps) from None

    def _converse(self, request: Request, timeout_s: float | None) -> Flow[Effect, Json]:
        talk = self._talk
        if talk is None:
            raise SessionLost("connect() made no connection")
        try:
            return (yield from talk.ask(request, self._patience(request.op, timeout_s)))
        except SessionGone as gone:
            self.lose(gone.message.partition("\n")[0])
            raise
        finally:
            if isinstance(talk, Exchanges) and talk.lost is not None:
                self.lose(talk.lost)

    def _patience(self, operation: str, timeout_s: float | None) -> float:
        if timeout_s is not None:
            return timeout_s
        if self._timeout is not None:
            return self._timeout
        limits = self._talk.limits if isinstance(self._talk, Lifeline) else {}
        kind = "reset" if operation == "reset" else "step"
        allowed = limits.get(f"{kind}_timeout_s", 0.0)
        return math.inf if allowed is None else max(60.0, allowed + BEYOND_S)

    def _alone(self, operation: str, flow: Flow[Effect, ResultT]) -> Flow[Effect, ResultT]:
        """Makes a call the only one. It begins within the `try` whose `finally` ends it.

        So an alarm that strikes at any moment leaves no call behind that is over.
        """
        call = object()
        try:
            with self._guard:
                if self._running is not None:
                    raise ConcurrentCall(
                        f"{operation}() was called while another call is still running on this "
                        "client; a client holds one episode and one call at a time: use one client "
                        "per rollout"
                    )
                self._running = call
            return (yield from flow)
        finally:
            if self._running is call:
                self._running = None


def persistently(retries: int) -> Flow[Effect, str | None]:
    """Attempts to open the connection until one succeeds; gives the subprotocol."""
    pause = FIRST_PAUSE_S
    for attempt in range(max(retries, 0) + 1):
        try:
            agreed: str | None = yield Open()
        except ConnectFailed as error:
            if attempt >= retries or not error.worth_retrying:
                raise
        else:
            return agreed
        yield Sleep(pause * random.uniform(0.5, 1.0))  # spreads retries
        pause = min(pause * 2, LONGEST_PAUSE_S)
    raise AssertionError("unreachable")
