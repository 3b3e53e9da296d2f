"""Values as JSON says them, so that they come back exactly: bytes, arrays, NaN and infinities.

What JSON has no form for becomes an object of one key that begins with `$`; an object of one's own
that looks so is wrapped in `$object`. Arrays are compressed, for frames of a game are mostly even.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from openenv.protocol.errors import Json, OpenEnvError
from openenv.protocol.extras import needs
from openenv.protocol.tensors import is_tensor

ARRAY, BYTES, FLOAT, OBJECT = "$array", "$bytes", "$float", "$object"
_LARGEST_ARRAY_BYTES = 1 << 31
_DEEPEST = 200


class NotPlain(OpenEnvError, ValueError):
    """A value that JSON cannot keep, or one that was kept and cannot be read."""


def to_plain(value: Any, depth: int = 0) -> Any:
    """The value as `json.dumps` takes it.

    Raises:
        NotPlain: it holds something that is neither JSON, bytes nor an array, or it is too deep.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {FLOAT: str(value)}
    if depth > _DEEPEST:
        raise NotPlain(f"a value is more than {_DEEPEST} levels deep, or contains itself")
    if isinstance(value, dict):
        return _object(value, depth)
    if isinstance(value, list | tuple):
        return [to_plain(part, depth + 1) for part in value]
    return _unusual(value, depth)


def copied(value: Any) -> Any:
    """A copy whose lists and dicts are its own; what cannot be changed is shared."""
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [copied(part) for part in value]
    return value.copy() if is_tensor(value) and value.flags.writeable else value


def from_plain(value: Any) -> Any:
    """What `to_plain` was given.

    Raises:
        NotPlain: a part that begins with `$` is none that it writes.
    """
    if isinstance(value, list):
        return [from_plain(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, inner),) = value.items()
        if (read := _READERS.get(name)) is not None:
            return _read(read, name, inner)
    return {name: from_plain(part) for name, part in value.items()}


def _object(value: Json, depth: int) -> Json:
    plain = {_name(name): to_plain(part, depth + 1) for name, part in value.items()}
    return {OBJECT: plain} if len(plain) == 1 and next(iter(plain)) in _READERS else plain


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise NotPlain(f"the names in an object must be text, got {name!r}")
    return name


def _unusual(value: Any, depth: int) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return {BYTES: base64.b64encode(value).decode()}
    if is_tensor(value):
        packed = zlib.compress(value.tobytes(), 1)
        packed_text = base64.b64encode(packed).decode()
        return {ARRAY: {"dtype": value.dtype.str, "shape": list(value.shape), "zlib": packed_text}}
    if isinstance(value, BaseModel):
        return to_plain(value.model_dump(), depth + 1)
    if callable(item := getattr(value, "item", None)) and getattr(value, "shape", None) == ():
        return to_plain(item(), depth + 1)
    raise NotPlain(
        f"a value of type {type(value).__qualname__} cannot be kept; use JSON's values, bytes or "
        "numpy arrays"
    )


def _read(read: Callable[[Any], Any], name: str, inner: Any) -> Any:
    try:
        return read(inner)
    except (AttributeError, KeyError, TypeError, ValueError, binascii.Error, zlib.error) as error:
        raise NotPlain(f"a {name} that is none: {error}") from error


def _float(text: Any) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ValueError(f"{text!r} is no such number")
    return float(text)


def _bytes(text: Any) -> bytes:
    return base64.b64decode(text, validate=True)


def _array(said: Any) -> Any:
    with needs("openenv-core[numpy]"):
        import numpy
    dtype, shape = numpy.dtype(said["dtype"]), tuple(map(int, said["shape"]))
    if dtype.hasobject:
        raise ValueError("an array of Python objects")
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or size > _LARGEST_ARRAY_BYTES:
        raise ValueError(f"an array of shape {list(shape)}")
    raw = _unpacked(_bytes(said["zlib"]), size)
    return numpy.frombuffer(bytearray(raw), dtype).reshape(shape)


def _unpacked(packed: bytes, size: int) -> bytes:
    """Bytes of a size that is known: what unpacks to more is not unpacked further."""
    reader = zlib.decompressobj()
    raw = reader.decompress(packed, size + 1)
    if len(raw) != size:
        raise ValueError(f"its bytes are not the {size} that its shape and dtype say")
    return raw


def _wrapped(inner: Any) -> Json:
    return {name: from_plain(part) for name, part in inner.items()}


_READERS: dict[str, Callable[[Any], Any]] = {
    ARRAY: _array,
    BYTES: _bytes,
    FLOAT: _float,
    OBJECT: _wrapped,
}
