"""Lifeline: one client's session over wire v2, which outlives its connections. Flows, no I/O."""

from __future__ import annotations

from openenv._flow import Flow
from openenv.client.dialogue import Dialogue
from openenv.client.effects import Effect, Wait
from openenv.protocol.errors import Json, ReplyTimeout, SessionLost
from openenv.protocol.line import ClientChannel
from openenv.protocol.messages import Request

CLOSE_TIMEOUT_S = 15.0
"""How long `close()` waits for the server to free the session."""
LAST_TRY_S = 1.0
"""How long it tries to reach a server whose connection is broken."""
_ELSEWHERE = frozenset({"SESSION_GONE", "TAKEN_OVER"})
"""Why a session ended that holds no slot for this client (any more)."""
MAX_BEGINNINGS = 3
"""How many sessions a reset may lose before they have begun."""
FINISH_S = 2.0
"""How long a reset lets a call finish whose caller has gone, before it begins a new session."""


class Lifeline:
    """One session; `reset` begins another when it is gone, nothing else ever does.

    Args:
        dialogue: with the server.
        wait_s: how long the server may let a new session queue for a slot.
    """

    def __init__(self, dialogue: Dialogue, wait_s: float) -> None:
        self._dialogue = dialogue
        self._wait_s = wait_s
        self._channel = ClientChannel()
        self._closed = False

    @property
    def lost(self) -> str | None:
        """Why there is no session; `None` while there is one."""
        ended = self._channel.ended
        if ended is not None:
            return ended.message
        return None if self._channel.is_open else "the last reset() opened no session"

    @property
    def limits(self) -> Json:
        """What the server published: its timeouts and sizes."""
        return self._channel.limits

    def cut(self) -> None:
        """The connection is gone, the session perhaps not."""
        self._dialogue.cut()

    def open(self, timeout_s: float) -> Flow[Effect, None]:
        """Opens the session; errors as `Dialogue.open`."""
        yield self._dialogue.keep
        yield from self._begin(Wait(timeout_s + self._wait_s))

    def ask(self, request: Request, timeout_s: float) -> Flow[Effect, Json]:
        """Sends a request and waits for its answer; errors as `Dialogue.settle`."""
        wait = Wait(timeout_s)
        if request.op == "reset":
            return (yield from self._reset(request.data, wait))
        if request.op == "state":  # it has no number: what was given up must come first
            yield from self._finish(wait)
        data = request.data if request.op == "step" else None
        call = self._dialogue.line.call(self._channel, request.op, data, request.timeout_s)
        return (yield from self._dialogue.settle(call, wait))

    def close(self) -> Flow[Effect, None]:
        """Ends the session and the connection."""
        self._closed = True
        dialogue = self._dialogue
        patience = LAST_TRY_S if dialogue.is_broken else CLOSE_TIMEOUT_S
        yield from dialogue.close([self._channel], Wait(patience))
        yield from dialogue.leave()

    def _reset(self, keywords: Json, wait: Wait) -> Flow[Effect, Json]:
        yield from self._let_finish(wait)
        for _ in range(MAX_BEGINNINGS):
            if not self._channel.is_open:
                yield from self._begin(wait)
            try:
                call = self._dialogue.line.call(self._channel, "reset", keywords)
                return (yield from self._dialogue.settle(call, wait))
            except SessionLost as error:
                lost = error
        raise lost

    def _let_finish(self, wait: Wait) -> Flow[Effect, None]:
        """Lets a call end whose caller has gone; a session in which one hangs is given up."""
        try:
            yield from self._finish(Wait(min(FINISH_S, wait.timeout_s / 2)))
        except ReplyTimeout:
            self._dialogue.line.end(self._channel, SessionLost("a call hangs in it"))

    def _finish(self, wait: Wait) -> Flow[Effect, None]:
        """Waits for the answers to calls whose callers have gone."""
        channel, dialogue = self._channel, self._dialogue
        if channel.owed:
            frames = dialogue.line.unanswered()
            yield from dialogue.until(lambda: not channel.owed, frames, wait)

    def _begin(self, wait: Wait) -> Flow[Effect, None]:
        """Opens a session on a channel that was never used before on this line."""
        if self._closed:
            raise SessionLost("the client was closed")
        before, wait_s = self._channel, self._wait_s
        if before.session_id is not None:
            if before.ended is None or before.ended.code not in _ELSEWHERE:
                wait_s = max(wait_s, CLOSE_TIMEOUT_S)  # its own slot becomes free
            self._dialogue.forsake(before)
            self._channel = ClientChannel(before.number + 1)
        yield from self._dialogue.open(self._channel, wait_s, wait)
