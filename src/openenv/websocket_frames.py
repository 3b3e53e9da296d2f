"""WebSocket frames of an open connection: cut out of the stream of bytes, and made of messages.

Nearly all that comes are whole text and binary frames, and a general parser costs more than a
small environment's step. So these are cut here. Everything else is left to `websockets` as it
came: control frames, fragments, and whatever breaks a rule or a bound. The rules stay there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from struct import Struct

from websockets.frames import apply_mask  # type: ignore[attr-defined]

WHOLE_TEXT, WHOLE_BINARY = 0x81, 0x82
"""How the frame of a whole message of either kind begins."""
MASKED = 0x80
SHORT, LONG = 126, 127
"""The lengths that say: the length is in the next two, or eight, bytes."""
LONGEST_HEAD = 14
OPCODES = frozenset({0x0, 0x1, 0x2, 0x8, 0x9, 0xA})
APART_BYTES = 32 * 1024
"""A payload of this size is not copied behind its head."""
TINY_BYTES = 4096

_tiny_head, _short_head, _long_head = Struct("!BB").pack, Struct("!BBH").pack, Struct("!BBQ").pack


def framed(message: str | bytes, *, masked: bool = False) -> list[bytes]:
    """The frame of a message, as pieces to be sent one after another.

    Args:
        message: what to send: `str` as text, `bytes` as binary.
        masked: as a client must send it.
    """
    if isinstance(message, str):
        first, payload = WHOLE_TEXT, message.encode()
    else:
        first, payload = WHOLE_BINARY, message
    size, bit = len(payload), MASKED if masked else 0
    if size < SHORT:
        head = _tiny_head(first, bit | size)
    elif size < 1 << 16:
        head = _short_head(first, bit | SHORT, size)
    else:
        head = _long_head(first, bit | LONG, size)
    if masked:
        key = os.urandom(4)
        head, payload = head + key, apply_mask(payload, key)
    return [head + payload] if size < APART_BYTES else [head, payload]


class Cutter:
    """Cuts messages out of the bytes of one open connection.

    Args:
        masked: whether the other side masks its frames, as a client must.
        max_size: the largest payload that is cut here, in bytes.
        take: gets each message, in order: whether it is text, and its payload.
        leave: gets every other frame's bytes, as they come; `False` once nothing more is read.

    Attributes:
        take: the same; another may take its place at any time.
    """

    def __init__(
        self,
        *,
        masked: bool,
        max_size: int,
        take: Callable[[bool, bytes], object],
        leave: Callable[[bytes], bool],
    ) -> None:
        self._bit = MASKED if masked else 0
        self._key_size = 4 if masked else 0
        self._max_size = max_size
        self.take = take
        self._leave = leave
        self._tiny = 2 + self._key_size
        self._end_of_tiny = self._tiny + min(SHORT, max_size + 1)
        self._idle = True
        self._kept = b""
        self._text = False
        self._key = b""
        self._pieces: list[bytes] = []
        self._missing = 0
        self._left: float = 0
        self._in_fragments = False

    def feed(self, data: bytes) -> None:
        """Takes in what has come: frames, or parts of them, however they were split."""
        size = len(data)
        tiny = self._tiny
        if (
            self._idle
            and tiny <= size < self._end_of_tiny
            and data[1] == size - tiny + self._bit
            and WHOLE_TEXT <= data[0] <= WHOLE_BINARY
        ):
            payload = apply_mask(data[6:], data[2:6]) if self._bit else data[2:]
            self.take(data[0] == WHOLE_TEXT, payload)
        else:
            self._cut(data)

    def stop(self) -> None:
        """Leaves everything from here on to `leave`."""
        self._left = math.inf
        self._idle = False

    def _cut(self, data: bytes) -> None:
        if self._kept:
            data, self._kept = self._kept + data, b""
        at, size = 0, len(data)
        while at < size:
            if self._left:
                at = self._pass_on(data, at)
            elif self._missing:
                at = self._gather(data, at)
            else:
                at = self._begin(data, at)
        self._idle = not (self._kept or self._missing or self._left or self._in_fragments)

    def _begin(self, data: bytes, at: int) -> int:
        """Begins with the frame at a place; the place to go on from."""
        head = data[at : at + LONGEST_HEAD]
        if len(head) < 2:
            return self._keep(data, at)
        start, length = _measure(head)
        whole = WHOLE_TEXT <= head[0] <= WHOLE_BINARY and not self._in_fragments
        known = head[0] & 0xF in OPCODES and head[1] & MASKED == self._bit
        if not known or length > self._max_size:
            self._left = math.inf
        elif len(head) < start + (self._key_size if whole else 0):
            return self._keep(data, at)
        elif whole:
            self._missing = length
            self._text = head[0] == WHOLE_TEXT
            self._key = head[start : start + self._key_size]
            return self._gather(data, at + start + self._key_size)
        else:
            self._left = start + self._key_size + length
            if head[0] & 0xF < 0x8:
                self._in_fragments = head[0] < 0x80
        return at

    def _keep(self, data: bytes, at: int) -> int:
        """Waits for the rest of a head."""
        self._kept = data[at:]
        return len(data)

    def _gather(self, data: bytes, at: int) -> int:
        """Takes what has come of a payload, most often all of it."""
        end = min(at + self._missing, len(data))
        self._missing -= end - at
        piece = data[at:end]
        if self._bit:
            piece = apply_mask(piece, self._key)
        if self._missing:
            self._put_by(piece)
            return end
        if self._pieces:
            self._pieces.append(piece)
            piece = b"".join(self._pieces)
            self._pieces.clear()
        self.take(self._text, piece)
        return end

    def _put_by(self, piece: bytes) -> None:
        """Keeps a piece, and turns the key to where the next one begins.

        Tiny pieces are joined, or each would weigh more than what it holds.
        """
        if self._pieces and len(self._pieces[-1]) < TINY_BYTES:
            self._pieces[-1] += piece
        else:
            self._pieces.append(piece)
        turn = len(piece) % 4
        self._key = self._key[turn:] + self._key[:turn]

    def _pass_on(self, data: bytes, at: int) -> int:
        end = int(min(at + self._left, len(data)))
        self._left -= end - at
        if not self._leave(data[at:end]):
            self._left = math.inf
        return end


def _measure(head: bytes) -> tuple[int, int]:
    """How much of a frame's head tells its length, and the length; 0 if too little has come."""
    size = head[1] & 0x7F
    if size < SHORT:
        return 2, size
    start = 4 if size == SHORT else 10
    return start, int.from_bytes(head[2:start], "big") if len(head) >= start else 0
