"""What is said of errors: never long, and always text that can be sent and written."""

from __future__ import annotations

import traceback
from pathlib import Path

from pydantic import ValidationError

MAX_TEXT = 64 * 1024
"""The longest text of an exception, in characters."""
MAX_FAULTS = 5
"""How many faults of one value are told."""

_PACKAGE = str(Path(__file__).resolve().parents[1])


def said(error: BaseException) -> str:
    """What an exception says; nothing if it cannot say it."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # the author's
        return ""
    return sendable(text[:MAX_TEXT])


def text_of(error: BaseException) -> str:
    """What an exception says, and never nothing: else its kind."""
    if isinstance(error, KeyError):  # which says nothing but the key
        return in_full(error)
    return said(error) or type(error).__name__


def in_full(error: BaseException) -> str:
    """An exception's kind, and what it says."""
    return f"{type(error).__name__}: {said(error)}"


def authors_traceback(error: BaseException) -> str:
    """The part of a traceback that lies in the author's code; of each line no more than fits."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _PACKAGE not in f.filename]
    lines = traceback.format_list(frames) + traceback.format_exception_only(type(error), error)
    return sendable("".join(map(_cut, lines)))


def _cut(line: str) -> str:
    """A line that no reader of a log waits for: some take seconds for a megabyte."""
    surplus = len(line) - MAX_TEXT
    return line if surplus <= 0 else f"{line[:MAX_TEXT]}… and {surplus} characters more\n"


def faults_of(misfit: ValidationError, whole: str) -> str:
    """What is wrong with a value, and where in it.

    Args:
        misfit: what pydantic found.
        whole: what the value is called, where it is wrong as a whole.
    """
    found = misfit.errors(include_url=False, include_context=False)[:MAX_FAULTS]
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or whole}: {fault['msg']}" for fault in found
    )


def sendable(text: str) -> str:
    """A text without what UTF-8 has no form for."""
    return text.encode(errors="backslashreplace").decode()
