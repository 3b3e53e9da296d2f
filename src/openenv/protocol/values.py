"""How Python values become JSON on the wire.

`float` NaN and ±inf become the strings `"NaN"`, `"Infinity"`, `"-Infinity"` (strict JSON;
pydantic's float fields read them back), `bytes` base64 text, numpy arrays nested lists, numpy
scalars numbers; everything else is as pydantic writes it in JSON mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from openenv.protocol.errors import EnvironmentFailed

FAILURES = (PydanticSerializationError, TypeError, ValueError, RecursionError)
"""What encoding raises for a value that has no wire form."""


def encode(value: object) -> bytes:
    """The JSON of a value.

    Raises:
        EnvironmentFailed: it holds something that has no wire form; the text names where.
    """
    try:
        return with_lost_numbers(
            _json(value),
            lambda: to_jsonable_python(value, bytes_mode="base64", fallback=unusual),
        )
    except FAILURES as error:
        raise unencodable(value, error) from error


def with_lost_numbers(body: bytes, plain: Callable[[], object]) -> bytes:
    """The JSON of a value, where no NaN or infinity was written as `null`.

    A model that is none of ours writes them so. Its plain values, as JSON would have them, still
    hold the numbers: wherever there is a `null`, those are written instead.
    """
    return _json(plain()) if b"null" in body else body


def _json(value: object) -> bytes:
    return to_json(value, inf_nan_mode="strings", bytes_mode="base64", fallback=unusual)


def unusual(value: Any) -> Any:
    """The JSON-able form of a value that pydantic does not know: numpy's arrays and scalars.

    Told by what they can do, so that numpy is never imported for it.
    """
    tolist = getattr(value, "tolist", None)
    if callable(tolist):
        return tolist()
    raise TypeError(_no_form(value))


def unencodable(
    value: object, error: Exception, attempt: Callable[[object], bytes] = _json
) -> EnvironmentFailed:
    """The error for a value that cannot cross the wire, naming the part that cannot.

    Args:
        value: what was to be sent.
        error: how that failed.
        attempt: what fails so; JSON by default.
    """
    path, culprit = _culprit(value, type(value).__name__, attempt, 0)
    if isinstance(culprit, str):
        why = "its text is no valid Unicode (a lone surrogate); encode or replace such characters"
    else:
        why = (
            f"{_no_form(culprit)}; use plain values, lists, dicts, numpy arrays or pydantic models"
        )
    cause = _one_line(error)
    return EnvironmentFailed(
        f"{path} cannot be sent: {why}" + ("" if _no_form(culprit) in cause else f" ({cause})"),
        path=path,
        value_type=type(culprit).__qualname__,
    )


def _no_form(value: object) -> str:
    return f"a value of type {type(value).__qualname__} has no wire form"


def _one_line(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _culprit(
    value: object, path: str, attempt: Callable[[object], bytes], depth: int
) -> tuple[str, object]:
    """The innermost part of a value that fails to encode on its own."""
    if depth < 20:
        for name, part in _parts(value):
            try:
                attempt(part)
            except FAILURES:
                return _culprit(part, f"{path}{name}", attempt, depth + 1)
    return path, value


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, BaseModel):
        return [(f".{name}", part) for name, part in value]
    if isinstance(value, dict):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    return []
