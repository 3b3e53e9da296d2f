"""What is said of an exception: never long, and always text that can be sent and written."""

from __future__ import annotations

import traceback
from pathlib import Path

LONGEST_MESSAGE = 4096
"""The longest text of an exception, in characters."""

_PACKAGE = str(Path(__file__).resolve().parents[1])


def said(error: Exception) -> str:
    """What an exception says; nothing if it cannot say it."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # the author's
        return ""
    return text[:LONGEST_MESSAGE].encode(errors="backslashreplace").decode()


def traced(error: Exception) -> str:
    """Where in the author's code an exception comes from, and what it is."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _PACKAGE not in f.filename]
    return "".join([*traceback.format_list(frames), f"{type(error).__name__}: {said(error)}"])
