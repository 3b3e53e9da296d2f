"""MessagePack: how Python values cross wire v2 in binary."""

from __future__ import annotations

from typing import Any

import msgspec


def encode_msgpack(value: object) -> bytes:
    """The MessagePack of a value."""
    return msgspec.msgpack.encode(value)


def decode_msgpack(data: bytes) -> Any:
    """The value in MessagePack."""
    return msgspec.msgpack.decode(data)


def tensors(code: int, data: memoryview) -> Any:
    """A tensor in an extension."""
    raise ValueError(f"unknown extension {code}")
