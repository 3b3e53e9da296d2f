"""Batch: many requests in one frame, and their replies in another."""

from __future__ import annotations

from typing import Protocol

from openenv.protocol.envelope import Encoding, Frame, batch_reply, encode_answer, frame_size
from openenv.protocol.errors import MessageTooLarge
from openenv.protocol.messages import Reply, error_reply

SMALL_BYTES = 400
"""Room that each reply has in its batch, enough for the error in place of one that is too large."""


class Socket(Protocol):
    """What a batch needs of its socket."""

    encoding: Encoding
    max_reply: int

    def say(self, reply: Reply, ident: int | None, channel: int, seq: int | None) -> None:
        """Sends a reply."""

    def settled(self) -> None:
        """One request fewer is without its reply."""


class Batch:
    """A batch under way: the replies of its items, until the last one is there."""

    def __init__(self, socket: Socket, ident: int, channels: list[int]) -> None:
        self._socket = socket
        self._ident = ident
        self._channels = channels
        self._frames: list[Frame] = [b""] * len(channels)
        self._left = len(channels)
        self._room = socket.max_reply - SMALL_BYTES * (len(channels) + 1)

    def answered(self, ident: int, seq: int | None, reply: Reply) -> None:
        """Takes the reply of an item, told by its place; too much for one frame is an error."""
        socket, number = self._socket, self._channels[ident]
        frame = encode_answer(reply, socket.encoding, None, number, seq)
        size = frame_size(frame)
        beyond = max(0, size - SMALL_BYTES)
        if beyond > self._room and beyond:
            reply = error_reply(too_large(size, socket.max_reply))
            frame = encode_answer(reply, socket.encoding, None, number, seq)
        else:
            self._room -= beyond
        self._frames[ident] = frame
        self._left -= 1
        socket.settled()
        if self._left == 0:
            self.say()

    def say(self) -> None:
        """Sends all replies in one frame."""
        encoding = self._socket.encoding
        self._socket.say(batch_reply(self._frames, encoding), self._ident, 0, None)


def too_large(size: int, limit: int) -> MessageTooLarge:
    """The error in place of a reply that the client could not read."""
    return MessageTooLarge(
        f"the reply has {size} bytes, at most {limit} may be sent: the client's "
        "max_message_size_mb, or the server's limits.max_reply_bytes; the session goes on",
        size=size,
        limit=limit,
        whose="client or server",
    )
