"""Line: a client's half of wire v2 — what it has asked over a socket and what it is still owed.

It does no I/O. A request that was not answered stays on the line, also when its caller has gone:
it may be sent again at any time, on this socket or the next, and is carried out once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from openenv.protocol.envelope import (
    Answer,
    Ask,
    Encoding,
    Frame,
    decode_answer,
    encode_ask,
    frame_size,
    read_answers,
)
from openenv.protocol.errors import (
    ENDING_CODES,
    Backpressure,
    Json,
    MessageTooLarge,
    ProtocolError,
    SessionError,
    SessionLost,
)

MAX_OWED = 64
"""Requests of one session whose callers have gone, before it takes no more."""

_CHANGING = frozenset({"reset", "step"})
_REPLIES = {
    "open": "opened",
    "reset": "observation",
    "step": "observation",
    "state": "state",
    "close": "closed",
    "batch": "batch",
}
HEARTBEAT_ID = 0
"""The id of pings that nobody waits for; requests count from 1."""


@dataclass(eq=False)
class ClientChannel:
    """A client's view of one session.

    Attributes:
        number: its channel on the wire.
        session_id: given by the server when it was opened; `None` before that.
        token: the right to come back to it.
        limits: what the server published.
        seq: the last sequence number that was used.
        owed: the ids of requests that change the session and are unanswered.
        ended: why it cannot go on; `None` while it can.
    """

    number: int = 0
    session_id: str | None = None
    token: str | None = field(default=None, repr=False)
    limits: Json = field(default_factory=dict)
    seq: int = 0
    owed: set[int] = field(default_factory=set)
    ended: SessionError | None = None

    @property
    def is_open(self) -> bool:
        """Whether it has a session that goes on, as far as is known."""
        return self.session_id is not None and self.ended is None

    def opened(self, data: Json) -> None:
        """Takes the server's word about its session; a new one counts from the beginning."""
        if data.get("session_id") != self.session_id or not self.owed:
            self.seq = int(data.get("seq") or 0)
        self.session_id, self.token = data.get("session_id"), data.get("token")
        self.limits = data.get("limits") or {}
        self.ended = None


@dataclass(eq=False)
class Call:
    """One request, until it is answered.

    Attributes:
        op: what was asked.
        channel: of which session.
        frame: how it was asked, for the case that it must be asked again.
        seq: its sequence number, if it may change the session.
        answer: what came; `None` as long as nothing has.
    """

    ident: int
    op: str
    channel: ClientChannel
    frame: Frame = field(default="", repr=False)
    seq: int | None = None
    answer: Answer | None = field(default=None, repr=False)

    def done(self) -> bool:
        """Whether it is answered."""
        return self.answer is not None

    def result(self) -> Json:
        """The data of the answer.

        Raises:
            SessionError: the server answered with a typed error; `SessionLost` if there is no
                session to answer.
            ProtocolError: it answered something else.
        """
        answer = self.answer
        if answer is None or not isinstance(answer.data, dict):
            raise ProtocolError(f"the server's answer to {self.op!r} has no data object")
        if answer.type == "error":
            error = SessionError.from_data(answer.data)
            gone = error.code in _GONE and self.op != "open"
            raise lost_because(error, self.channel) if gone else error
        if answer.type != _REPLIES[self.op]:
            raise ProtocolError(f"the server answered {self.op!r} with a {answer.type!r} frame")
        data: Json = answer.data
        return data

    def settle(self, answer: Answer) -> None:
        """Takes the answer; a second time does no harm."""
        self.channel.owed.discard(self.ident)
        self.answer = answer
        if answer.type == "error" and isinstance(answer.data, dict) and self.op in _OF_SESSION:
            error = SessionError.from_data(answer.data)
            if error.code in _GONE | ENDING_CODES and not self._is_past(error):
                self.channel.ended = error
            elif error.code in _NOT_TAKEN and self.seq == self.channel.seq:
                self.channel.seq -= 1

    def _is_past(self, error: SessionError) -> bool:
        """Whether it was carried out before a later one was: only its own reply is gone."""
        return error.code == "STALE_SEQ" and self.seq is not None and self.seq < self.channel.seq


@dataclass(eq=False)
class BatchCall(Call):
    """Requests to several sessions in one frame.

    Attributes:
        parts: each of them, in their order; the replies are theirs.
    """

    parts: list[Call] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)

    def settle(self, answer: Answer) -> None:
        """Gives each request its answer; if the whole was refused, they all were."""
        answers = [answer] * len(self.parts)
        if answer.type == "batch":
            answers = read_answers(answer.data)
        if len(answers) != len(self.parts):
            raise ProtocolError(
                f"the server answered {len(answers)} of {len(self.parts)} requests of a batch"
            )
        self.answer = answer
        for part, own in zip(self.parts, answers, strict=True):
            part.settle(own)

    def settle_of(self, channel: ClientChannel, answer: Answer, encoding: Encoding) -> None:
        """Takes one session's answer in advance: it is not asked again."""
        kept = [n for n, part in enumerate(self.parts) if part.channel is not channel]
        for part in self.parts:
            if part.channel is channel:
                part.settle(answer)
        self.parts = [self.parts[n] for n in kept]
        self.items = [self.items[n] for n in kept]
        self.frame = encode_ask(Ask(self.ident, "batch", data={"items": self.items}), encoding)
        if not kept:
            self.answer = answer


_OF_SESSION = frozenset({"reset", "step", "state"})
_NOT_TAKEN = frozenset({"INVALID_JSON", "UNKNOWN_TYPE", "BACKPRESSURE"})
"""Codes of requests that never came to their session: their number is free again."""
_GONE = frozenset({"SESSION_GONE", "SESSION_ERROR", "TAKEN_OVER", "SEQ_GAP", "STALE_SEQ"})


class Line:
    """One client's requests over one socket after another."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self._last_id = HEARTBEAT_ID
        self._unanswered: dict[int, Call] = {}
        self._channels: dict[int, ClientChannel] = {}

    @property
    def heartbeat(self) -> Frame:
        """A frame that asks for a sign of life, and nothing else."""
        return encode_ask(Ask(HEARTBEAT_ID, "ping"), self.encoding)

    def call(
        self,
        channel: ClientChannel,
        op: str,
        data: Json | None = None,
        timeout_s: float | None = None,
    ) -> Call:
        """A request, ready to be sent.

        Args:
            channel: of which session.
            op: what to do.
            data: of that.
            timeout_s: how long it may take there.

        Raises:
            EnvironmentFailed: its data has no wire form; nothing was asked.
            MessageTooLarge: the server would not read it; nothing was asked.
            Backpressure: too many calls before it are unanswered.
        """
        seq = channel.seq + 1 if op in _CHANGING else None
        ident = self._last_id + 1
        ask = Ask(ident, op, channel.number, seq, timeout_s, data)
        frame = encode_ask(ask, self.encoding)
        self._admit(frame, channel)
        call = Call(ident, op, channel, frame, seq)
        self._enter(call, call)
        return call

    def batch(self, asked: Iterable[tuple[ClientChannel, str, Json | None]]) -> BatchCall:
        """Requests to several sessions, at most one to each, in one frame; errors as `call`."""
        ident = self._last_id + 1
        parts, items = [], []
        for channel, op, data in asked:
            item: Json = {"op": op, "ch": channel.number}
            seq = channel.seq + 1 if op in _CHANGING else None
            if seq is not None:
                item["seq"] = seq
            if data is not None:
                item["data"] = data
            parts.append(Call(ident, op, channel, seq=seq))
            items.append(item)
        frame = encode_ask(Ask(ident, "batch", data={"items": items}), self.encoding)
        self._admit(frame, *(part.channel for part in parts))
        call = BatchCall(ident, "batch", ClientChannel(), frame, parts=parts, items=items)
        self._enter(call, *parts)
        return call

    def receive(self, frame: Frame) -> None:
        """Takes a frame in; answers that nobody is owed are dropped.

        Raises:
            ProtocolError: the server broke the rules.
        """
        answer = decode_answer(frame, self.encoding)
        if answer.id is None:
            self._heed(answer)
            return
        call = self._unanswered.get(answer.id)
        if call is not None and not self._came_early(call, answer):
            call.settle(answer)
            self._unanswered.pop(answer.id, None)

    def unanswered(self) -> list[Frame]:
        """The frames of all that was asked and is not answered, in their order."""
        return [call.frame for call in self._unanswered.values()]

    def abandon(self, call: Call) -> None:
        """Its caller has gone. What may have changed the session stays on the line."""
        if not (call.op in _CHANGING or isinstance(call, BatchCall)):
            self._unanswered.pop(call.ident, None)

    def end(self, channel: ClientChannel, error: SessionError) -> None:
        """The session cannot go on: whoever waits for it is told."""
        channel.ended = error
        lost = Answer("error", data=error.to_data())
        for call in list(self._unanswered.values()):
            if isinstance(call, BatchCall):
                call.settle_of(channel, lost, self.encoding)
            elif call.channel is channel:
                call.settle(lost)
            if call.done():
                del self._unanswered[call.ident]

    def refuse_largest(self, error: MessageTooLarge) -> None:
        """One side does not read the largest request, or the answer to it: it has failed."""
        largest = max(self._unanswered.values(), key=lambda call: len(call.frame), default=None)
        if largest is not None:
            del self._unanswered[largest.ident]
            largest.settle(Answer("error", data=error.to_data()))

    def _came_early(self, call: Call, answer: Answer) -> bool:
        """Whether the server misses what was asked before: both are to be sent again."""
        if answer.type != "error" or call.seq is None or not isinstance(answer.data, dict):
            return False
        return answer.data.get("code") == "SEQ_GAP" and any(
            other.seq is not None and other.seq < call.seq
            for other in self._unanswered.values()
            if other.channel is call.channel
        )

    def _admit(self, frame: Frame, *channels: ClientChannel) -> None:
        limit = channels[0].limits.get("max_message_bytes") if channels else None
        if limit is not None and (size := frame_size(frame)) > limit:
            raise MessageTooLarge(
                f"the message has {size} bytes, the server reads at most {limit} "
                "(OPENENV_MAX_MESSAGE_MB there); nothing was sent, the session goes on",
                size=size,
                limit=limit,
                whose="server",
                setting="OPENENV_MAX_MESSAGE_MB",
            )
        if any(len(channel.owed) >= MAX_OWED for channel in channels):
            raise Backpressure(
                f"{MAX_OWED} calls before this one are still unanswered; reset() begins a new "
                "session"
            )

    def _enter(self, call: Call, *parts: Call) -> None:
        """Puts a request on the line, or none of it if a signal's handler raises meanwhile."""
        self._last_id = call.ident
        before = [part.channel.seq for part in parts]
        try:
            for part in parts:
                self._channels[part.channel.number] = part.channel
                if part.op in _CHANGING:
                    part.channel.seq += 1
                    part.channel.owed.add(call.ident)
            self._unanswered[call.ident] = call
        except BaseException:
            self._unanswered.pop(call.ident, None)
            for part, seq in zip(parts, before, strict=True):
                part.channel.seq = seq
                part.channel.owed.discard(call.ident)
            raise

    def _heed(self, answer: Answer) -> None:
        """A word that nobody asked for: a session has ended, or belongs to somebody else now.

        Raises:
            ProtocolError: it says something else, perhaps of a frame that it could not read.
        """
        if answer.type == "queued":
            return
        if answer.type != "error" or not isinstance(answer.data, dict):
            raise ProtocolError(f"the server sent a {answer.type!r} frame that nobody asked for")
        error = SessionError.from_data(answer.data)
        if error.code not in _GONE | ENDING_CODES:
            raise ProtocolError(f"the server complains of a frame: {error}")
        if (channel := self._channels.get(answer.ch)) is not None:
            self.end(channel, error)


def lost_because(error: SessionError, channel: ClientChannel) -> SessionLost:
    """The error of a call whose session cannot go on."""
    details = {**error.details, "session_id": channel.session_id, "cause": error.code}
    return SessionLost(error.message, **details)
