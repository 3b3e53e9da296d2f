"""What fits an array of some dtype and shape, and becomes it without loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

from openenv.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

Shape = tuple["int | None", ...]

_WHOLE_FLOATS = 2.0**53
"""Below it, a float64 is the only one that is read from an integer."""
_TEXT_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def numpy() -> Any:
    """The module.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        import numpy
    except ImportError as error:
        raise ConfigurationError(
            "NDArray needs numpy, which is not installed: pip install 'openenv-core[numpy]'"
        ) from error
    return numpy


def fitted(value: Any, dtype: np.dtype[Any], shape: Shape | None) -> Array:
    """An array of a dtype and a shape, from an array or from nested lists.

    An array that is so already is not copied. Floats may be rounded to a dtype of fewer bits;
    nothing else may change: integers stay what they are, and nothing finite becomes infinite.

    Args:
        value: the array, or the lists.
        dtype: what it must be of.
        shape: the sizes of its axes, `None` for any size; `None` for any shape.

    Raises:
        PydanticCustomError: it does not fit, and why.
    """
    np = numpy()
    if type(value) is np.ndarray and value.dtype == dtype:
        return _shaped(value, shape)
    given = _as_array(value, dtype)
    if given.size and not _of_a_kind(given.dtype.kind, dtype.kind):
        raise _misfit("array_dtype", f"expected {dtype.name}, got {given.dtype.name}")
    with np.errstate(over="ignore", invalid="ignore"):
        array = given.astype(dtype)
        fault = _fault(given, array) if given.size else ""
    if fault:
        raise _misfit("array_dtype", f"{fault}: the array is of {dtype.name}")
    return _shaped(array, shape)


def _of_a_kind(before: str, after: str) -> bool:
    """Whether values of a kind can be of another: bools only bools, complex ones only complex."""
    if "b" in (before, after):
        return before == after
    return before != "c" or after == "c"


def _as_array(value: Any, dtype: np.dtype[Any]) -> Array:
    """What numpy itself makes of a value."""
    np = numpy()
    if not (hasattr(value, "__array__") or isinstance(value, list | tuple | float | int | str)):
        raise _misfit(
            "array_type", f"expected a numpy array or nested lists, got a {type(value).__name__}"
        )
    try:
        array: Array = np.asarray(value)
        if array.dtype.kind == "U":
            array = np.asarray(_numbers(value, dtype.kind))
    except (ValueError, TypeError, OverflowError) as error:
        raise _misfit("array_type", f"no array of {dtype.name}: {error}") from None
    if array.dtype.kind not in "biufc" or np.ma.isMaskedArray(value):
        raise _misfit("array_dtype", f"expected {dtype.name}, got {array.dtype.name}")
    return array


def _numbers(value: Any, kind: str) -> Any:
    """Nested lists, in which the numbers that JSON writes as text are numbers."""
    if isinstance(value, list | tuple):
        return [_numbers(part, kind) for part in value]
    if isinstance(value, str) and kind in "fc":
        return _TEXT_NUMBERS[value] if value in _TEXT_NUMBERS else _complex(value, kind)
    if isinstance(value, str):
        raise ValueError(f"text is no number: {value[:40]!r}")
    return value


def _complex(text: str, kind: str) -> complex:
    if kind != "c":
        raise ValueError(f"text is no number: {text[:40]!r}")
    return complex(text)


def _fault(given: Array, array: Array) -> str:
    """What an array has lost by its new dtype; nothing if it is empty text."""
    np = numpy()
    before, after = given.dtype.kind, array.dtype.kind
    if before == "f" and after in "iu":
        if not (np.abs(given) < _WHOLE_FLOATS).all() or (given != np.trunc(given)).any():
            return "a value is no whole number"
        given = given.astype("int64")
    if after in "iu":
        limits = np.iinfo(array.dtype)
        low, high = int(given.min()), int(given.max())
        return "" if limits.min <= low and high <= limits.max else f"{low}…{high} is out of range"
    if before in "iu" and given.ravel().tolist() != _integers(array):
        return "an integer would not stay what it is"
    if (np.isfinite(given) & ~np.isfinite(array)).any():
        return "a value is too large"
    return ""


def _integers(array: Array) -> list[int | None]:
    """The integers in an array of floats or complex numbers."""
    return [int(number) if math.isfinite(number) else None for number in array.real.ravel()]


def _shaped(array: Array, shape: Shape | None) -> Array:
    if shape is None:
        return array
    if not array.size and array.ndim < len(shape):  # lists cannot say what is inside of nothing
        array = array.reshape(*array.shape, *(size or 0 for size in shape[array.ndim :]))
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(size not in (have, None) for have, size in sizes):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        got = ", ".join(map(str, array.shape))
        raise _misfit("array_shape", f"expected an array of shape ({wanted}), got ({got})")
    return array


def _misfit(kind: str, why: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{why}", {"why": why})
