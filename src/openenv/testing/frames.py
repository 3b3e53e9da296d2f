"""WebSocket frames, cut where they begin and end. Nothing is unmasked, checked or changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA


class Head(NamedTuple):
    """What a frame says about itself.

    Attributes:
        opcode: what it is.
        final: it is the last of its message.
        length: its bytes, head and payload.
    """

    opcode: int
    final: bool
    length: int


class Piece(NamedTuple):
    """Some bytes of one frame, as they came.

    Attributes:
        head: the frame's.
        data: the bytes; the first piece of a frame holds its whole head.
        first: the frame begins here.
        last: the frame ends here.
    """

    head: Head
    data: bytes
    first: bool
    last: bool

    @property
    def ends_message(self) -> bool:
        """Whether the last byte of a message is in it."""
        return self.last and self.head.final


class Cutter:
    """Cuts one direction of a connection into frames; holds a few bytes at most.

    Attributes:
        rest: the beginning of a head whose end has not come yet.
    """

    def __init__(self) -> None:
        self.rest = b""
        self._head: Head | None = None
        self._left = 0

    def cut(self, data: bytes) -> Iterator[Piece]:
        """The pieces of frames in what came."""
        data = self.rest + data
        self.rest = b""
        at = 0
        while at < len(data):
            first = self._head is None
            head = self._head or _head_at(data, at)
            if head is None:
                self.rest = data[at:]
                return
            if first:
                self._left = head.length
            part = data[at : at + self._left]
            at += len(part)
            self._left -= len(part)
            self._head = head if self._left else None
            yield Piece(head, part, first, self._head is None)


def _head_at(data: bytes, at: int) -> Head | None:
    """The head that begins there, if all of it is there."""
    if len(data) < at + 2:
        return None
    masked, short = data[at + 1] & 0x80, data[at + 1] & 0x7F
    extended = {126: 2, 127: 8}.get(short, 0)
    length = 2 + extended + (4 if masked else 0)
    if len(data) < at + length:
        return None
    payload = int.from_bytes(data[at + 2 : at + 2 + extended], "big") if extended else short
    return Head(data[at] & 0x0F, bool(data[at] & 0x80), length + payload)
