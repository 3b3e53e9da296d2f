"""What is told of an exception: all of it to a trainer, an incident's number to an agent."""

from __future__ import annotations

import logging
import traceback
import uuid
from pathlib import Path

MAX_TEXT = 64 * 1024
"""The longest text of an exception that is sent, in characters."""

logger = logging.getLogger("openenv.incidents")


def text_of(error: BaseException) -> str:
    """What an exception says: never nothing, never long, always text that can be sent."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # an exception that cannot even be printed
        text = ""
    if isinstance(error, KeyError):  # which says nothing but the key
        text = f"KeyError: {text}"
    return sendable(text[:MAX_TEXT]) or type(error).__name__


def authors_traceback(error: BaseException) -> str:
    """The part of a traceback that lies in the author's code."""
    package = str(Path(__file__).resolve().parents[1])
    frames = [f for f in traceback.extract_tb(error.__traceback__) if package not in f.filename]
    lines = traceback.format_list(frames) + traceback.format_exception_only(type(error), error)
    return sendable("".join(lines))


def sendable(text: str) -> str:
    """A text without what UTF-8 has no form for."""
    return text.encode(errors="backslashreplace").decode()


def incident(error: BaseException, what: str, *, ours: bool = False) -> tuple[str, str]:
    """Logs an exception under a number of its own.

    Args:
        error: what was raised.
        what: what failed, for people, for example `tool 'price'`.
        ours: the fault may be this package's, so that its own lines are logged, too.

    Returns:
        the number, and a text that may be told to anybody.
    """
    number = uuid.uuid4().hex[:12]
    trace = "".join(traceback.format_exception(error)) if ours else authors_traceback(error)
    logger.warning("incident %s: %s\n%s", number, what, sendable(trace).rstrip())
    return number, f"{what} failed; the server's log tells more under incident {number}"
