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
    """A value as an array of numbers of some kind."""
    np = numpy()
    try:
        if isinstance(value, list | tuple | float | int | complex | str):
            array = _from_lists(value, dtype)
        elif hasattr(value, "__array__"):
            array = np.asarray(value)
        else:
            raise TypeError(f"expected a numpy array or nested lists, got a {type(value).__name__}")
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        raise _misfit("array_type", f"no array of {dtype.name}: {error}") from None
    if array.dtype.kind not in "biufc" or np.ma.isMaskedArray(value):
        raise _misfit("array_dtype", f"expected {dtype.name}, got {array.dtype.name}")
    return array


def _from_lists(value: Any, dtype: np.dtype[Any]) -> Array:
    """Nested lists as an array of what numpy thinks fit for their numbers.

    They are looked at as objects first: among text, numpy would make text of everything, and as
    much of it for each as the longest needs.
    """
    np = numpy()
    cells = np.array(value, dtype=object)
    parts = cells.ravel().tolist()
    kinds = set(map(type, parts))
    if any(issubclass(kind, str) for kind in kinds):
        parts = [_number(part, dtype) if isinstance(part, str) else part for part in parts]
        kinds = set(map(type, parts))
    strangers = [kind for kind in kinds if not issubclass(kind, int | float | complex | np.number)]
    if strangers and strangers != [np.bool_]:
        raise ValueError(f"a {strangers[0].__name__} is no number")
    if kinds & {bool, np.bool_} and len(kinds) > 1:
        raise ValueError("numbers and bools in one array")
    if kinds >= {int, float} and any(type(part) is int and float(part) != part for part in parts):
        raise ValueError("an integer among floats that is no float")
    array = np.asarray(parts)
    if kinds == {int} and array.dtype.kind not in "iu":  # beyond int64, in numpy < 2 even if uint64
        array = np.asarray(parts, dtype=np.uint64 if min(parts) >= 0 else np.int64)
    shaped: Array = array.reshape(cells.shape)
    return shaped


def _number(text: str, dtype: np.dtype[Any]) -> complex:
    """A number that JSON writes as text."""
    if text in _TEXT_NUMBERS and dtype.kind in "fc":
        return _TEXT_NUMBERS[text]
    if dtype.kind != "c":
        raise ValueError(f"text is no number: {text[:40]!r}")
    return complex(text)


def _fault(given: Array, array: Array) -> str:
    """What an array has lost by its new dtype; an empty text if nothing."""
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
