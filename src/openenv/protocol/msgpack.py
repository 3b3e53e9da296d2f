"""How Python values become MessagePack, and back.

The same values as in JSON (`openenv.protocol.values`), but what JSON has no form for stays what it
is: NaN and infinities, `bytes`, and numpy arrays as ext type 78.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec
from pydantic_core import SchemaSerializer, core_schema
from pydantic_core import to_jsonable_python as jsonable

from openenv.protocol.errors import InvalidRequest
from openenv.protocol.tensors import is_tensor, tensor_ext, tensors
from openenv.protocol.values import FAILURES, unencodable, unusual

_SCALARS = frozenset({type(None), bool, int, float, str, bytes, msgspec.Raw})
_EXACT = frozenset({bool, int, float})
_NO_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})

_anything = SchemaSerializer(core_schema.any_schema())


def encode_msgpack(value: object) -> bytes:
    """The MessagePack of a value. `msgspec.Raw` parts are spliced in as they are.

    Raises:
        EnvironmentFailed: it holds something that has no wire form; the text names where.
    """
    try:
        return attempt(value)
    except FAILURES as error:
        raise unencodable(value, error, attempt) from error


def attempt(value: object) -> bytes:
    """The MessagePack of a value, or an error of pydantic's or msgspec's own."""
    return pack_plain(plain(value))


def decode_msgpack(data: bytes | memoryview) -> Any:
    """The value in MessagePack data; an array in it is a read-only view that keeps `data` alive.

    Raises:
        InvalidRequest: with code `INVALID_JSON`, as for any frame that cannot be read.
    """
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(f"Invalid MessagePack: {error}", code="INVALID_JSON") from None


def plain(value: object) -> Any:
    """A value in wire values alone: `None`, bool, int, float, str, bytes, arrays, lists, dicts.

    Everything else is as pydantic writes it in JSON mode.

    Raises:
        ValueError, TypeError, RecursionError: it holds something that has no wire form.
    """
    if is_plain(value):
        return value
    python = _anything.to_python(value, warnings=False)
    return merged(python, jsonable(value, bytes_mode="base64", fallback=holed, context=HOLED))


def is_plain(value: object) -> bool:
    """Whether a value holds nothing but wire values already."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        items: Any = value
        for key, item in items.items():  # `all` takes twice as long
            if type(key) is not str or not (type(item) in _SCALARS or is_plain(item)):
                return False
        return True
    if kind is list:
        parts: Any = value
        return _SCALARS.issuperset(map(type, parts)) or all(map(is_plain, parts))
    return is_tensor(value)


def pack_plain(value: object) -> bytes:
    """The MessagePack of wire values."""
    try:
        return _encoder.encode(value)
    except OverflowError:
        return _encoder.encode(_with_short_ints(value))


HOLED = object()
"""The context of a JSON form that is to be merged: an array may be `None` in it."""


def holed(value: Any) -> Any:
    """The JSON-able form of what pydantic does not know, without the lists of an array."""
    return None if is_tensor(value) else unusual(value)


def merged(python: Any, json: Any) -> Any:
    """What JSON mode gave, with the numbers, bytes and arrays of Python mode that it has lost."""
    kind = type(json)
    if kind is dict:
        if isinstance(python, dict) and len(python) == len(json):
            pairs = zip(json.items(), python.values(), strict=True)
            return {key: merged(part, form) for (key, form), part in pairs}
        return json
    if kind is list:
        if not _EXACT.issuperset(map(type, json)) and _lines_up(python, json):
            return [merged(part, form) for part, form in zip(python, json, strict=True)]
        return json
    if json is None or kind is str:
        return _unlost(python, json)
    return json


def _lines_up(python: object, json: list[Any]) -> bool:
    return isinstance(python, list | tuple | deque) and len(python) == len(json)


def _unlost(python: Any, json: str | None) -> Any:
    """What a text or a `None` in JSON was, if it was no such thing."""
    if json is None:
        return python if is_tensor(python) else None
    if isinstance(python, bytes | bytearray):
        return bytes(python) if json == jsonable(python, bytes_mode="base64") else json
    if json in _NO_NUMBERS and not isinstance(python, str):
        number = python.tolist() if hasattr(python, "tolist") else python
        return number if isinstance(number, float) else json
    return json


def _with_short_ints(value: Any) -> Any:
    """Plain values, in which ints beyond 64 bits are text."""
    if isinstance(value, dict):
        return {key: _with_short_ints(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_short_ints(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    return value


def _form(value: Any) -> Any:
    """What msgspec is to write for a value that it does not know."""
    return tensor_ext(value) if is_tensor(value) else plain(value)


_encoder = msgspec.msgpack.Encoder(enc_hook=_form)
_decoder = msgspec.msgpack.Decoder(ext_hook=tensors)
