"""Keys of MessagePack maps: text alone, before anything builds a dict of them.

A key may be an array there, which Python hashes without a secret. A map of keys that were chosen to
have one hash takes quadratic time to build: a frame of 1 MB would stop a server for half a minute.
"""

from __future__ import annotations

import re

from openenv.protocol.errors import InvalidRequest

HARMLESS_BYTES = 16 * 1024
"""A frame of so few bytes holds no map that takes long."""
MOST_PARTS = 1_000_000
_LARGE_MAP = re.compile(rb"\xde[\x04-\xff]|\xdf")

_SCALARS = {0xCA: 5, 0xCB: 9, 0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3, 0xD2: 5}
_SCALARS |= {0xD3: 9, 0xD4: 3, 0xD5: 4, 0xD6: 6, 0xD7: 10, 0xD8: 18, 0xC0: 1, 0xC2: 1, 0xC3: 1}
_SCALARS |= dict.fromkeys([*range(0x80), *range(0xE0, 0x100)], 1)
_SIZES = _SCALARS | {0xA0 + length: 1 + length for length in range(32)}
"""First byte → bytes of the whole, where it alone tells."""
_LENGTHS = {0xD9: (1, 0), 0xDA: (2, 0), 0xDB: (4, 0), 0xC4: (1, 0), 0xC5: (2, 0), 0xC6: (4, 0)}
_LENGTHS |= {0xC7: (1, 1), 0xC8: (2, 1), 0xC9: (4, 1)}
"""First byte → bytes of the length that follows, and what comes between it and the content."""
_COUNTS = {0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_TEXT = frozenset([*range(0xA0, 0xC0), 0xD9, 0xDA, 0xDB])
_MAPS = frozenset([*range(0x80, 0x90), 0xDE, 0xDF])


def check_keys(frame: bytes) -> None:
    """Looks at all keys, unless no map can be large. A frame that is cut off has none that matter.

    Raises:
        InvalidRequest: a key is no text, or the frame has too many parts to look at.
    """
    if len(frame) <= HARMLESS_BYTES or not _LARGE_MAP.search(frame):
        return
    try:
        fault = _fault(frame)
    except IndexError:  # cut off, or no MessagePack: the decoder will say so
        return
    if fault:
        raise InvalidRequest(f"Invalid MessagePack: {fault}", code="INVALID_JSON")


def _fault(frame: bytes) -> str:
    at, left, in_map = 0, 1, False
    outer: list[tuple[int, bool]] = []
    for _ in range(MOST_PARTS):
        while not left:
            if not outer:
                return ""
            left, in_map = outer.pop()
        left -= 1
        if in_map:
            if frame[at] not in _TEXT:
                return "a map has a key that is no text"
            at += _size(frame, at)
        size = _size(frame, at)
        if size:
            at += size
            continue
        outer.append((left, in_map))
        in_map = frame[at] in _MAPS
        at, left = _entered(frame, at)
        if not in_map and left:
            at, left = _past_alike(frame, at, left)
    return f"more than {MOST_PARTS} parts, too many to look at: send numbers as an array"


def _size(frame: bytes, at: int) -> int:
    """The bytes of the whole value there; 0 of an array or a map."""
    head = frame[at]
    if head in _LENGTHS:
        width, between = _LENGTHS[head]
        return 1 + width + between + int.from_bytes(frame[at + 1 : at + 1 + width], "big")
    return _SIZES.get(head, 0)


def _entered(frame: bytes, at: int) -> tuple[int, int]:
    """Where an array's or a map's first part is, and how many it has."""
    width = _COUNTS.get(frame[at])
    if width is None:
        return at + 1, frame[at] & 0x0F
    return at + 1 + width, int.from_bytes(frame[at + 1 : at + 1 + width], "big")


def _past_alike(frame: bytes, at: int, left: int) -> tuple[int, int]:
    """Skips the parts of an array if they are numbers of one kind, as most long ones are."""
    size = _SCALARS.get(frame[at], 0)
    if at + left > len(frame) or at + left * size > len(frame):
        raise IndexError
    if size and frame[at : at + left * size : size] == frame[at : at + 1] * left:
        return at + left * size, 0
    if frame[at : at + left].isascii():
        return at + left, 0
    return at, left
