"""What an executor and its interpreter tell each other, over a Unix socket.

Each frame is its kind in one byte, the size of its body in four, and the body in MessagePack. What
the interpreter sends may come from code that is out for harm, and is read as such.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Annotated, TypeVar

import msgspec

HEADER = struct.Struct("!BI")
OVERHEAD_BYTES = 1 << 16
"""What a frame may hold besides that which has a limit of its own."""
MOST_FOUND = 10_000
TEXT_BYTES = 8192
"""Of a traceback, and of an exception's message."""

_Text = Annotated[str, msgspec.Meta(max_length=TEXT_BYTES)]


class Nonsense(Exception):
    """What came is no frame, or none that may come now."""


class Kind(IntEnum):
    """What a frame says.

    READY: the interpreter can be used, or why it cannot.
    RUN: a piece of code that is to be run.
    CALL, ANSWER: the code calls a tool, and what came of it.
    OUTCOME: the code has ended.
    """

    READY = 1
    RUN = 2
    CALL = 3
    ANSWER = 4
    OUTCOME = 5


class Ready(msgspec.Struct, forbid_unknown_fields=True):
    """Whether an interpreter can be used: it can, if there is no reason why not."""

    why_not: _Text = ""


class Run(msgspec.Struct):
    """A piece of code, as UTF-8 that may hold surrogates, and the how manieth it is.

    The token is a secret until then, and is in what the interpreter sends as long as it runs this:
    so no answer can be sent in advance, and none that comes late is taken for another's. The seed
    is that of the global random generators, in digits; where it is empty they are left alone.
    """

    token: bytes
    code: bytes
    number: int
    seed: str = ""


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """A tool, and its arguments: a list and an object, as JSON."""

    token: bytes
    tool: str
    arguments: bytes


class Answer(msgspec.Struct):
    """A tool's result as JSON, or the exception that it raised."""

    result: bytes = b""
    raised: str = ""
    message: str = ""


class Fault(msgspec.Struct, forbid_unknown_fields=True):
    """An exception."""

    type: _Text
    message: _Text
    line: int | None
    traceback: _Text


class Found(msgspec.Struct, forbid_unknown_fields=True):
    """A figure or a file."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    content: bytes


class Outcome(msgspec.Struct, forbid_unknown_fields=True):
    """What came of a piece of code.

    `exhausted` says that what it has left takes so much memory that the next would find none.
    """

    token: bytes
    exit_code: Annotated[int, msgspec.Meta(ge=0, le=255)] = 0
    value: str | None = None
    fault: Fault | None = None
    found: Annotated[list[Found], msgspec.Meta(max_length=MOST_FOUND)] = []
    truncated: Annotated[list[_Text], msgspec.Meta(max_length=MOST_FOUND)] = []
    out_of_memory: bool = False
    exhausted: bool = False


_Body = TypeVar("_Body", bound=msgspec.Struct)


def encode(kind: Kind, body: msgspec.Struct) -> bytes:
    """A frame."""
    packed = msgspec.msgpack.encode(body)
    return HEADER.pack(kind, len(packed)) + packed


def decode(body: bytes, expected: type[_Body]) -> _Body:
    """A frame's body.

    Raises:
        Nonsense: it is none of that type.
    """
    try:
        return msgspec.msgpack.decode(body, type=expected)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Nonsense(f"{expected.__name__}: {error}") from None


class Frames:
    """Cuts what was received into frames.

    Args:
        most: how many bytes a body may have.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._received = bytearray()

    def feed(self, received: bytes) -> None:
        """Takes what has come."""
        self._received += received

    @property
    def is_empty(self) -> bool:
        """Whether nothing has come that was not taken."""
        return not self._received

    def take(self) -> tuple[int, bytes] | None:
        """The kind and body of the next frame, once it is whole.

        Raises:
            Nonsense: it is larger than any may be.
        """
        if len(self._received) < HEADER.size:
            return None
        kind, size = HEADER.unpack_from(self._received)
        if size > self._most:
            raise Nonsense(f"a frame of {size} bytes")
        end = HEADER.size + size
        if len(self._received) < end:
            return None
        body = bytes(self._received[HEADER.size : end])
        del self._received[:end]
        return kind, body


def cut(text: str, size: int) -> tuple[str, bool]:
    """The beginning of a text, of at most so many bytes as UTF-8, and whether that is not all.

    What cannot be written as UTF-8 is escaped.
    """
    if len(text) > size:
        cut_text, is_cut = text[:size], True
    else:
        cut_text, is_cut = text, False
    encoded = cut_text.encode(errors="backslashreplace")
    if len(encoded) <= size:
        return encoded.decode(), is_cut
    return encoded[:size].decode(errors="ignore"), True
