"""What crosses between a server and the process of a session: questions, and their answers."""

from __future__ import annotations

import struct
from typing import BinaryIO

from pydantic_core import from_json

from openenv.protocol.errors import Json, SessionError
from openenv.protocol.messages import Emit, Reply, Request
from openenv.protocol.msgpack import decode_msgpack, encode_msgpack
from openenv.protocol.values import encode

HEADER = struct.Struct("!B?I")
"""Each answer of the child: its kind, whether its body is MessagePack, the size of that."""
KINDS = ("ready", "observation", "state", "error", "event", "view")
MAX_ANSWER_BYTES = 1 << 28
CARD_QUESTION = b"c"
"""Asks for the environment's card."""
INTERRUPT = b"i"
"""Asks the running call to end. It has no answer of its own."""


def encode_question(request: Request) -> bytes:
    """A request as it goes to the child: its form in one byte, then its fields."""
    fields: Json = {"op": request.op, "data": request.data, "timeout_s": request.timeout_s}
    if request.emit is not None:
        fields["tells"] = True
    if request.view:
        fields["view"] = True
    if request.binary:
        return b"m" + encode_msgpack(fields)
    return b"j" + encode(fields)


def decode_question(question: bytes, tell: Emit) -> Request:
    """A request as it came to the child, whose events are for `tell` if they are for anybody."""
    binary = question[:1] == b"m"
    fields = decode_msgpack(question[1:]) if binary else from_json(question[1:])
    emit = tell if fields.pop("tells", False) else None
    return Request(**fields, binary=binary, emit=emit)


def sized(question: bytes) -> bytes:
    """A question as the child's end reads it: its size in 4 bytes, then itself."""
    return len(question).to_bytes(4, "big") + question


def read_question(pipe: BinaryIO) -> bytes | None:
    """The next question; `None` when there will be no more.

    Args:
        pipe: not buffered, so that what follows the question is still there to be seen.
    """
    size = _read(pipe, 4)
    return None if size is None else _read(pipe, int.from_bytes(size, "big"))


def _read(pipe: BinaryIO, size: int) -> bytes | None:
    """So many bytes; `None` where there are not as many."""
    body = pipe.read(size)
    if len(body) == size:
        return body
    parts = [body]
    while parts[-1] and (missing := size - sum(map(len, parts))):
        parts.append(pipe.read(missing))
    return b"".join(parts) if parts[-1] else None


def write_reply(pipe: BinaryIO, reply: Reply) -> None:
    """Answers."""
    header = HEADER.pack(KINDS.index(reply.type), reply.binary, len(reply.body))
    pipe.write(header + reply.body)
    pipe.flush()


def is_object(reply: Reply) -> bool:
    """Whether it says one object: an environment gone bad must not write frames of its own."""
    try:
        body = reply.body
        return isinstance(decode_msgpack(body) if reply.binary else from_json(body), dict)
    except (ValueError, SessionError):
        return False
