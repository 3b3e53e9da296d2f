"""What is told of an exception: all of it to a trainer, an incident's number to an agent."""

from __future__ import annotations

import logging
import traceback
import uuid

from openenv.protocol.saying import authors_traceback, sendable

logger = logging.getLogger("openenv.incidents")


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
