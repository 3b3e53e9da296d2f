"""numpy arrays in MessagePack: ext type 78, `[dtype, shape, raw C-order little-endian bytes]`."""

from __future__ import annotations

import math
from typing import Annotated, Any

from msgspec import DecodeError, Meta
from msgspec.msgpack import Decoder, Encoder, Ext

TENSOR = 78

_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
_LITTLE = {
    f"{order}{kind}{size}": f"{'|' if size == 1 else '<'}{kind}{size}"
    for kind, sizes in _SIZES.items()
    for size in sizes
    for order in "|<>"
}
"""numpy's names of the dtypes that cross the wire → their names there."""
_WIRE_DTYPES = frozenset(_LITTLE.values())

_Dimensions = Annotated[tuple[Annotated[int, Meta(ge=0)], ...], Meta(max_length=32)]
_parts = Decoder(tuple[str, _Dimensions, memoryview])
_encode = Encoder().encode


def is_tensor(value: object) -> bool:
    """Whether it is an array that ext type 78 can hold. Never imports numpy."""
    kind = type(value)
    if kind.__name__ != "ndarray" or kind.__module__ != "numpy":
        return False
    array: Any = value
    return array.dtype.str in _LITTLE


def tensor_ext(array: Any) -> Ext:
    """An array as ext type 78. Anything but C order and little-endian bytes costs a copy."""
    own = array.dtype.str
    dtype = _LITTLE[own]
    if own != dtype or not array.flags.c_contiguous:
        array = array.astype(dtype, order="C")
    return Ext(TENSOR, _encode((dtype, array.shape, array.data)))


def tensors(code: int, data: memoryview) -> Any:
    """The array in an ext, as a read-only view on the data: an `ext_hook` for msgspec.

    Raises:
        ValueError: it is no tensor, or says of itself what cannot be.
    """
    if code != TENSOR:
        raise ValueError(f"ext type {code} means nothing here ({TENSOR} is a tensor)")
    try:
        dtype, shape, raw = _parts.decode(data)
    except DecodeError as error:
        raise ValueError(f"a tensor that is none: {error}") from None
    if dtype not in _WIRE_DTYPES:
        raise ValueError(
            f"a tensor of dtype {dtype[:20]!r}: it must be one of {', '.join(sorted(_WIRE_DTYPES))}"
        )
    size = math.prod(shape) * int(dtype[2:])
    if size != raw.nbytes:
        raise ValueError(
            f"a tensor of shape {list(shape)} and dtype {dtype!r} has {size} bytes, "
            f"not {raw.nbytes}"
        )
    return _view(dtype, shape, raw)


def _view(dtype: str, shape: tuple[int, ...], raw: memoryview) -> Any:
    try:
        import numpy
    except ImportError:
        raise ValueError(
            "a tensor came, and numpy is not installed here: pip install 'openenv-core[numpy]'"
        ) from None
    array = numpy.ndarray(shape, dtype, buffer=raw)
    if dtype == "|b1" and array.view("|u1").max(initial=0) > 1:
        raise ValueError("a tensor of bools holds bytes other than 0 and 1")
    return array
