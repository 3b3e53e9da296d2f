"""Frames as PNG files."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from atari_env.models import Bytes

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_GREYS, _COLOURS = 0, 2


def png(frame: Bytes) -> bytes:
    """A frame as a PNG file.

    Args:
        frame: of shape (height, width) or (height, width, 3).
    """
    height, width = frame.shape[:2]
    kind = _GREYS if frame.ndim == 2 else _COLOURS
    lines = np.pad(frame.reshape(height, -1), ((0, 0), (1, 0)))  # a 0 before each: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 1)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    body = name + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
