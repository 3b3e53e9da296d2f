"""Dialogue: wire v2 as a client speaks it, over one socket after another. Flows, without I/O.

A connection that breaks is made again and its sessions are resumed; what was unanswered is sent
again. To the caller that is a slow step.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterable

from openenv._flow import Flow
from openenv.client.effects import Drop, Effect, Heard, Keep, Open, Sleep, Transmit, Wait, late
from openenv.protocol.envelope import Ask, Encoding, Frame, encode_ask
from openenv.protocol.errors import (
    ConnectFailed,
    Json,
    MessageTooLarge,
    ReplyTimeout,
    SessionError,
    SessionGone,
    SessionLost,
)
from openenv.protocol.line import HEARTBEAT_ID, Call, ClientChannel, Line

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
MAX_REFUSALS = 8
"""Attempts in a row that find nobody listening, about four seconds, before a server is gone."""
MAX_BUSY_ANSWERS = 60
"""Attempts that a gateway answers for its server, about a minute, before that is gone too."""
FIRST_QUIET_S, LONGEST_QUIET_S = 1.0, 30.0
"""How long no answer may come before a request is sent again, in case it was swallowed."""
BYTES_PER_S = 1_000_000
"""The slowest road for which a large request is not sent again too early."""


_NOW: Json = {"now": True}
"""Goes with a close: what still runs in the session is not waited for."""


class Dialogue:
    """One client's sessions with one server.

    Args:
        encoding: the form of the frames, as agreed with the server.
        max_reply_bytes: the largest answer that the client reads.

    Attributes:
        line: what was asked, and is still unanswered.
        channels: the sessions that are resumed when the connection was broken, by number.
    """

    def __init__(self, encoding: Encoding, max_reply_bytes: int) -> None:
        self.line = Line(encoding)
        self.channels: dict[int, ClientChannel] = {}
        self._max_reply = max_reply_bytes
        self._broken = False
        self._parting: list[Frame] = []
        self._name = secrets.token_hex(8)
        self._attempt = 0

    @property
    def keep(self) -> Keep:
        """What the connection says on its own."""
        farewell = Ask(HEARTBEAT_ID, "close", data={"all": True})
        return Keep(self.line.heartbeat, encode_ask(farewell, self.line.encoding))

    @property
    def is_broken(self) -> bool:
        """Whether there is no connection, as far as is known; the next call makes another."""
        return self._broken

    def cut(self) -> None:
        """The connection is gone."""
        self._broken = True

    def open(self, channel: ClientChannel, wait_s: float, wait: Wait) -> Flow[Effect, None]:
        """Opens a session on a channel.

        Raises:
            SessionError: the server refused.
            ConnectFailed: the connection broke and could not be made again.
            ReplyTimeout: the time was up.
        """
        self.channels[channel.number] = channel
        call = self.line.call(channel, "open", self._opening(wait_s=wait_s or None))
        channel.opened((yield from self.settle(call, wait)))

    def settle(self, call: Call, wait: Wait) -> Flow[Effect, Json]:
        """Sends a request and waits for its answer, whatever becomes of the connection.

        Raises:
            SessionError: the server answered with a typed error.
            SessionLost: the session is gone.
            MessageTooLarge: the answer, or the request, is larger than one side reads.
            ConnectFailed: the connection broke and could not be made again.
            ReplyTimeout: the time was up; the request may yet be carried out, once.
        """
        frames, self._parting = [*self._parting, *self.line.unanswered()], []
        try:
            yield from self.until(call.done, frames, wait)
            return call.result()
        finally:
            if not call.done():
                self.line.abandon(call)

    def until(
        self, done: Callable[[], bool], frames: list[Frame], wait: Wait
    ) -> Flow[Effect, None]:
        """Sends frames and takes in what comes until it is enough; errors as `settle`."""
        quiet = FIRST_QUIET_S + sum(map(len, frames)) / BYTES_PER_S
        while not done():
            try:
                if self._broken:
                    yield from self._resume(wait)
                    frames = self.line.unanswered()
                    continue
                heard = yield Transmit(frames, wait, self.line.receive, done, quiet)
            except SessionLost:  # the connection, not the session
                self._broken = True
                continue
            except MessageTooLarge as error:  # which the connection did not survive
                self._broken = True
                self.line.refuse_largest(error)
                continue
            if heard is Heard.LATE:
                raise late(wait)
            if heard is Heard.NOTHING:
                frames, quiet = self.line.unanswered(), min(quiet * 2, LONGEST_QUIET_S)

    def forsake(self, channel: ClientChannel) -> None:
        """Gives a session up without waiting for what runs in it; the server is told."""
        self.channels.pop(channel.number, None)
        self.line.end(channel, SessionGone("the client gave the session up"))
        parting = self.line.call(channel, "close", _NOW)
        self._parting.append(parting.frame)
        self.line.abandon(parting)

    def close(self, channels: Iterable[ClientChannel], wait: Wait) -> Flow[Effect, None]:
        """Ends sessions; returns when the server has freed them, or can't be reached.

        A call that another thread or task still makes is told so.
        """
        calls = [
            self.line.call(channel, "close", _NOW if channel.owed else None)
            for channel in channels
            if channel.is_open
        ]
        try:
            yield from self.until(lambda: _all_done(calls), [c.frame for c in calls], wait)
        except (ConnectFailed, ReplyTimeout, SessionError):
            pass
        finally:
            for call in calls:
                self.channels.pop(call.channel.number, None)
                self.line.end(call.channel, SessionGone("the client was closed"))

    def leave(self) -> Flow[Effect, None]:
        """Lets go of the connection."""
        self._broken = True
        yield Drop()

    def _opening(self, **details: object) -> Json:
        told = {name: value for name, value in details.items() if value is not None}
        return {**told, "max_reply_bytes": self._max_reply}

    def _resume(self, wait: Wait) -> Flow[Effect, None]:
        """Connects anew and comes back to the sessions; those that are gone are ended."""
        yield from self._reconnect(wait)
        calls = [
            self.line.call(
                channel,
                "open",
                self._opening(
                    session_id=channel.session_id,
                    token=channel.token,
                    last_seq=channel.seq,
                    client=self._name,
                    attempt=self._attempt,
                ),
            )
            for channel in self.channels.values()
            if channel.is_open
        ]
        try:
            yield from self._all_back(calls, wait)
            self._broken = False
        finally:
            for call in calls:
                self.line.abandon(call)

    def _all_back(self, calls: list[Call], wait: Wait) -> Flow[Effect, None]:
        frames, quiet = [call.frame for call in calls], FIRST_QUIET_S
        while not _all_done(calls):
            heard = yield Transmit(frames, wait, self.line.receive, lambda: _all_done(calls), quiet)
            if heard is Heard.LATE:
                raise late(wait)
            quiet = min(quiet * 2, LONGEST_QUIET_S)
        for call in calls:
            self._take_back(call)

    def _take_back(self, call: Call) -> None:
        try:
            data = call.result()
        except SessionError as error:
            self.line.end(call.channel, error)
            return
        if data.get("session_id") != call.channel.session_id:
            self.line.end(call.channel, SessionGone("the server gave another session"))
        else:
            call.channel.opened(data)

    def _reconnect(self, wait: Wait) -> Flow[Effect, None]:
        pause, refusals, answers = FIRST_PAUSE_S, 0, 0
        while True:
            self._attempt += 1
            try:
                agreed = yield Open(wait)
                break
            except ConnectFailed as error:
                refusals += error.status is None
                answers += error.status is not None
                patient = refusals <= MAX_REFUSALS and answers <= MAX_BUSY_ANSWERS
                if not (error.worth_retrying and patient):
                    raise _unreachable(error) from error
                failure = error
            try:
                yield Sleep(pause * random.uniform(0.5, 1.0), wait)  # spreads many clients
            except ReplyTimeout as late_by:
                raise ReplyTimeout(
                    f"{late_by}; the connection is broken and could not be made again so far"
                ) from failure
            pause = min(pause * 2, LONGEST_PAUSE_S)
        if Encoding.agreed(agreed) is not self.line.encoding:
            for channel in list(self.channels.values()):
                self.line.end(channel, SessionGone("the server was replaced by an older one"))
        yield self.keep


def _all_done(calls: list[Call]) -> bool:
    return all(call.done() for call in calls)


def _unreachable(error: ConnectFailed) -> ConnectFailed:
    return ConnectFailed(
        f"the connection broke and could not be made again ({error}); the session may still live: "
        "the next call tries to resume it, and tells if it is lost. What was asked may still be "
        "carried out then, once, before that call",
        error.status,
        worth_retrying=error.worth_retrying,
    )
