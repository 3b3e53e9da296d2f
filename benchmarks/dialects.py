"""The frames of each protocol, prepared so far that to send one costs next to nothing.

A frame of v2 has numbers that change: its `id`, and the `seq` of each step in it. A session uses
one number for all of them, always written with the same width, so a frame is prepared as the
pieces around it, and `number.join(pieces)` is the whole work of making the next one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from workloads import Call, named

TEXT, BINARY, CLOSE, PING, PONG = 0x81, 0x82, 0x88, 0x89, 0x8A
KEY = 0x5A  # the masking key is this byte four times, so that a piece is masked wherever it is
MASKED = bytes(byte ^ KEY for byte in range(256))
MARK = 2_119_630_849  # stands where the number goes: 4 bytes in MessagePack, 10 digits in JSON
JSON_REFUSED = b'"type":"error"'

Pieces = Sequence[bytes]


def head(opcode: int, size: int, mask_bit: int = 0) -> bytes:
    """The first bytes of a WebSocket frame."""
    if size < 126:
        return bytes((opcode, mask_bit | size))
    if size < 2**16:
        return bytes((opcode, mask_bit | 126)) + size.to_bytes(2, "big")
    return bytes((opcode, mask_bit | 127)) + size.to_bytes(8, "big")


def masked(opcode: int, payload: bytes) -> bytes:
    """A client's frame."""
    return head(opcode, len(payload), 0x80) + bytes((KEY,)) * 4 + payload.translate(MASKED)


def _in_four_bytes(number: int) -> bytes:
    return (number ^ 0x5A5A5A5A).to_bytes(4, "big")


def _in_ten_digits(number: int) -> bytes:
    return (b"%10d" % number).translate(MASKED)


def _plain(calls: Sequence[Call]) -> dict[str, Any]:
    ((op, data),) = calls
    return {"type": op, "data": data} if data else {"type": op}


def _enveloped(calls: Sequence[Call]) -> dict[str, Any]:
    """A call alone, or a batch with a channel for each."""
    items = [
        {"op": op, "ch": channel, "seq": MARK, "data": data}
        for channel, (op, data) in enumerate(calls)
    ]
    if len(items) == 1:
        return {"id": MARK, **items[0]}
    return {"id": MARK, "op": "batch", "data": {"items": items}}


@dataclass(frozen=True)
class Dialect:
    """How one protocol writes a frame.

    `number` gives the masked bytes of a number, all of one width; a reply with `refused` in it is
    an error.
    """

    subprotocol: str
    opcode: int
    message: Callable[[Sequence[Call]], dict[str, Any]]
    encode: Callable[[Any], bytes]
    number: Callable[[int], bytes]
    refused: bytes

    def pieces(self, calls: Sequence[Call]) -> Pieces:
        """A frame of calls, one for each channel."""
        return self.framed(self.message(calls))

    def framed(self, message: dict[str, Any]) -> Pieces:
        """A frame, split where its number goes."""
        return masked(self.opcode, self.encode(message)).split(self.number(MARK))

    def endings(self, channels: int) -> list[dict[str, Any]]:
        """What ends the sessions of a socket; in v1 they end with it."""
        closing = [{"id": MARK, "op": "close", "ch": channel} for channel in range(channels)]
        return closing if self.subprotocol else []


_as_json, _as_msgpack = msgspec.json.encode, msgspec.msgpack.encode
DIALECTS = {
    "v1": Dialect("", TEXT, _plain, _as_json, _in_ten_digits, JSON_REFUSED),
    "v2+json": Dialect("openenv.v2+json", TEXT, _enveloped, _as_json, _in_ten_digits, JSON_REFUSED),
    "v2+msgpack": Dialect(
        "openenv.v2+msgpack",
        BINARY,
        _enveloped,
        _as_msgpack,
        _in_four_bytes,
        b"\xa4type\xa5error",
    ),
}


@dataclass(frozen=True)
class Script:
    """All that a generator's session needs to know."""

    path: str
    subprotocol: str
    opening: Pieces
    cycle: Sequence[Pieces]
    goodbye: Sequence[Pieces]
    number: Callable[[int], bytes]
    refused: bytes


def spoken(dialect: str, workload: str, batch: int = 1) -> Script:
    """A workload in a protocol, `batch` steps to a frame."""
    speech, work = DIALECTS[dialect], named(workload)
    return Script(
        "/ws",
        speech.subprotocol,
        speech.pieces([work.opening] * batch),
        [speech.pieces([call] * batch) for call in work.cycle],
        [speech.framed(ending) for ending in speech.endings(batch)],
        speech.number,
        speech.refused,
    )


def echoed(bytes_in: int, bytes_out: int) -> Script:
    """Messages of one size, each answered with one of another, for the floors."""
    frame = masked(BINARY, b"." * bytes_in)
    path = f"/ws?in={len(frame)}&out={bytes_out}"
    return Script(path, "", [frame], [[frame]], [], _in_four_bytes, JSON_REFUSED)
