"""Channels: a v2 socket, on which many sessions live side by side. It does no I/O of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from openenv.protocol.envelope import (
    Ask,
    Encoding,
    Frame,
    decode_ask,
    encode_answer,
    frame_size,
    read_items,
)
from openenv.protocol.errors import Backpressure, InvalidRequest, OutOfTurn, SessionError
from openenv.protocol.messages import Operation, Reply, Request, error_reply
from openenv.runtime.sessions import Sessions
from openenv.server.batch import Batch, too_large
from openenv.server.channel import Channel

MAX_OUTSTANDING = 1024
"""Requests without a reply, or frames that wait their turn, before a socket is read no more."""

_SESSION_OPS: dict[str, Operation] = {"reset": "reset", "step": "step", "state": "state"}
_KNOWN = ("open", *_SESSION_OPS, "close", "batch", "ping")


class Channels:
    """One client's socket: requests told apart by their channel, replies as they are ready.

    Args:
        sessions: the server's.
        encoding: the form of the frames.
        emit: sends a frame.
        hold: stops (`True`) or goes on (`False`) reading from the client.
    """

    def __init__(
        self,
        sessions: Sessions,
        encoding: Encoding,
        emit: Callable[[Frame], None],
        hold: Callable[[bool], None],
    ) -> None:
        self.sessions = sessions
        self.encoding = encoding
        self.max_reply = sessions.limits.max_reply_bytes
        self._emit = emit
        self._hold = hold
        self._channels: dict[int, Channel] = {}
        self._backlog: deque[Frame] = deque()
        self._outstanding = 0
        self._held = self.choked = self._left = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._moves: set[tuple[int, int | None]] = set()

    def on_frame(self, frame: Frame) -> None:
        """Takes a request, or keeps it until the client reads its replies again."""
        if self._left:
            return
        if self.choked or self._backlog:
            self._backlog.append(frame)
        else:
            self._take(frame)
        if self._outstanding >= MAX_OUTSTANDING or self._backlog:
            self._regulate()

    def choke(self, on: bool) -> None:
        """The client takes no more replies for now, or does again."""
        self.choked = on
        for channel in list(self._channels.values()):
            channel.pause(on)
        while self._backlog and not self.choked:
            self._take(self._backlog.popleft())
        self._regulate()

    async def leave(self) -> None:
        """The socket is gone: its sessions wait for their client, those that can."""
        self._left = True
        self._backlog.clear()
        channels = list(self._channels.values())
        self._channels.clear()
        while self._tasks:  # one that ends may begin another
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(channel.leave() for channel in channels))

    def say(self, reply: Reply, ident: int | None, channel: int, seq: int | None) -> None:
        """Sends a reply; one that is too large becomes the error that says so."""
        frame = encode_answer(reply, self.encoding, ident, channel, seq)
        if (size := frame_size(frame)) > self.max_reply:
            reply = error_reply(too_large(size, self.max_reply))
            frame = encode_answer(reply, self.encoding, ident, channel, seq)
        self._emit(frame)

    def settled(self) -> None:
        """One request fewer is without its reply."""
        self._outstanding -= 1
        if self._held:
            self._regulate()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Does some work, for as long as the socket is there."""
        if self._left:
            work.close()
            return
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def dismiss(self, number: int) -> None:
        """A channel was closed: its number is free."""
        self._channels.pop(number, None)

    def _take(self, frame: Frame) -> None:
        try:
            ask = decode_ask(frame, self.encoding)
        except InvalidRequest as error:
            ident = error.details.pop("id", None)
            return self.say(error_reply(error), ident, 0, None)
        try:
            operation = _SESSION_OPS.get(ask.op)
            if operation is None:
                self._answer_other(ask)
            else:
                request = _request(operation, ask.data, ask.timeout_s, self)
                request.view = ask.view
                seq = None if operation == "state" else ask.seq
                channel = self._channels.get(ask.ch) or self._opened_on_demand(ask.ch, seq)
                self._outstanding += 1
                channel.submit(request, seq, ask.id)
        except SessionError as error:
            self.say(error_reply(error), ask.id, ask.ch, ask.seq)
        return None

    def _answer_other(self, ask: Ask) -> None:
        """Answers what is about channels and sockets, not about an episode."""
        if ask.op == "open":
            self._open(self._channel(ask.ch), ask)
        elif ask.op == "batch":
            self._begin_batch(ask)
        elif ask.op == "close":
            self._close(ask)
        elif ask.op == "ping":
            self.say(Reply("pong", b"{}"), ask.id, ask.ch, None)
        else:
            raise InvalidRequest(
                f"Unknown message type: {ask.op[:80]!r}; expected one of {', '.join(_KNOWN)}",
                code="UNKNOWN_TYPE",
            )

    def _channel(self, number: int) -> Channel:
        """The channel of that number, a new one if there is none.

        Raises:
            Backpressure: there are as many as one socket may hold.
        """
        channel = self._channels.get(number)
        if channel is None:
            limit = self.sessions.limits.max_channels
            if len(self._channels) >= limit:
                self._forget_ended()
            if len(self._channels) >= limit:
                raise Backpressure(
                    f"this socket holds {limit} channels, as many as it may (max_channels): close "
                    "one, or open another socket",
                    max_channels=limit,
                )
            channel = self._channels[number] = Channel(number, self)
        return channel

    def _forget_ended(self) -> None:
        """Makes room of the channels whose sessions have ended without being closed."""
        self._channels = {n: kept for n, kept in self._channels.items() if not kept.has_ended}

    def _opened_on_demand(self, number: int, seq: int | None) -> Channel:
        """A channel that was never opened, which its first request opens.

        Raises:
            OutOfTurn: it is no first request, so its session is not here.
            Backpressure: as `_channel`.
        """
        if seq is not None and seq > 1:
            raise OutOfTurn(
                f"a request with seq {seq} on a channel that was not opened; nothing was done: "
                "open it with session_id and token to come back to its session",
                code="SEQ_GAP",
                seq=seq,
                last_seq=0,
            )
        channel = self._channel(number)
        self._move(channel, lambda: channel.open({}))
        return channel

    def _open(self, channel: Channel, ask: Ask) -> None:
        data = {} if ask.data is None else ask.data
        if not isinstance(data, dict):
            raise InvalidRequest("Invalid message: open takes an object as 'data'", errors=[])
        self._move(channel, lambda: channel.open(data), ask)

    def _close(self, ask: Ask) -> None:
        data = ask.data if isinstance(ask.data, dict) else {}
        channel = self._channels.get(ask.ch)
        if data.get("all") is True:
            for each in self._channels.values():
                each.drop()
            self._channels.clear()
        elif channel is not None:
            now = data.get("now") is True
            return self._move(channel, lambda: channel.close(now=now), ask)
        return self.say(Reply("closed", b"{}"), ask.id, ask.ch, None)

    def _move(
        self,
        channel: Channel,
        work: Callable[[], Coroutine[Any, Any, Reply]],
        ask: Ask | None = None,
    ) -> None:
        """Opens or closes a channel, and answers who asked for it: once if it was asked again."""
        key = (channel.number, None if ask is None else ask.id)
        if key in self._moves:
            return

        async def move() -> None:
            try:
                reply = await work()
                if ask is not None:
                    self._heed(ask)
                    self.say(reply, ask.id, channel.number, None)
            finally:
                self._moves.discard(key)
                self.settled()

        self._moves.add(key)
        self._outstanding += 1
        channel.move(move)

    def _begin_batch(self, ask: Ask) -> None:
        items = read_items(ask.data)
        limit = self.sessions.limits.max_channels
        if len(items) > limit:
            raise Backpressure(f"a batch holds at most {limit} requests, got {len(items)}")
        batch = Batch(self, ask.id, [item.ch for item in items])
        self._outstanding += len(items)
        for index, item in enumerate(items):
            try:
                request = _request(_SESSION_OPS.get(item.op), item.data, ask.timeout_s, self)
                seq = None if request.op == "state" else item.seq
                channel = self._channels.get(item.ch) or self._opened_on_demand(item.ch, seq)
            except SessionError as error:
                batch.answered(index, item.seq, error_reply(error))
            else:
                channel.submit(request, seq, index, batch)
        if not items:
            batch.say()

    def _heed(self, ask: Ask) -> None:
        """Sends nothing larger than the client says that it reads, as it opens a session."""
        asked = ask.data.get("max_reply_bytes") if isinstance(ask.data, dict) else None
        if ask.op == "open" and type(asked) is int and 0 < asked < self.max_reply:
            self.max_reply = asked

    def _regulate(self) -> None:
        """Reads from the client only while there is room for what it may ask."""
        most = MAX_OUTSTANDING // 2 if self._held else MAX_OUTSTANDING
        full = self.choked or len(self._backlog) > 0 or self._outstanding >= most
        if full is not self._held:
            self._held = full
            self._hold(full)


def _request(
    operation: Operation | None, data: Any, timeout_s: float | None, socket: Channels
) -> Request:
    """What a session is asked. Whether its data makes sense the session says, in its turn.

    Raises:
        InvalidRequest: it is nothing that a session can be asked.
    """
    if operation is None:
        raise InvalidRequest(
            f"a batch takes {', '.join(_SESSION_OPS)}, nothing else", code="UNKNOWN_TYPE"
        )
    if data is None and operation != "step":
        data = {}
    return Request(operation, data, timeout_s, socket.encoding.binary)
