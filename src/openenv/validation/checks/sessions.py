"""Checks of sessions: how many there may be, and what is left of those that were closed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from openenv.protocol.errors import OpenEnvError, SessionCapacityError
from openenv.testing.finding import Finding, broken, skipped
from openenv.testing.trajectory import play
from openenv.validation.checks.episodes import EPISODE
from openenv.validation.footprint import CAN_MEASURE, Footprint, footprint, still_footprint
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject

ROUND = 8
"""Sessions that are opened and closed between two looks at the server."""
ROUNDS = 3
ROUND_S = 15.0
SETTLE_S = 10.0
"""How long a server may take to let go of what was closed."""
MOST_SESSIONS = 128
FILLING_S = 20.0
"""How long a server may take to be filled."""
GROWTH_MB = 1.0
"""Memory per closed session that is no accident any more."""


def _capacity(subject: Subject) -> Finding:
    """Opens sessions until one is refused; then a slot that was given back can be had again."""
    limit = subject.stage.capacity or MOST_SESSIONS
    if limit > MOST_SESSIONS:
        return skipped(f"it holds {limit} sessions, more than are opened to see one refused")
    deadline = time.monotonic() + FILLING_S
    with ExitStack() as sessions:
        held, refusal = 0, None
        while refusal is None and held <= limit and time.monotonic() < deadline:
            try:
                sessions.enter_context(_reset(subject, patience_s=0))
                held += 1
            except OpenEnvError as error:
                refusal = error
        if refusal is None:
            return skipped(f"{held} sessions were opened, and none was refused", {"sessions": held})
        if not isinstance(refusal, SessionCapacityError):
            why = f"session {held + 1} was refused with {type(refusal).__name__}: {refusal}"
            return broken(f"{why}, not with CAPACITY_REACHED")
    with _reset(subject):
        pass
    seen = f"session {held + 1} was refused with {refusal.code}; a freed slot was given again"
    return Finding.judged([], seen, {"sessions": held, "code": refusal.code})


@contextmanager
def _reset(subject: Subject, patience_s: float = SETTLE_S) -> Iterator[None]:
    with subject.stage.session(patience_s) as client:
        client.reset(**subject.stage.plan.reset())
        yield


def _may_be_filled(subject: Subject) -> str | None:
    return None if subject.is_ours else "a server of others is not filled with sessions"


def _close(subject: Subject) -> Finding:
    """Opens and closes sessions, and looks at what the server still holds."""
    _open_and_close(subject)
    usual = _active(subject, 0 if subject.is_ours else sys.maxsize)
    before = _footprint(subject, still_footprint)
    count = sum(_open_and_close(subject) for _ in range(ROUNDS - 1))
    active = _active(subject, usual)
    after = _settled(subject, before, count)
    faults = list(_growth(before, after, count))
    if active > usual:
        faults.append(f"{active} sessions are open, {usual} were before")
    measured: dict[str, Any] = {"sessions": count, "active_sessions": active}
    if after is not None and before is not None:
        measured |= {"before": before.to_json(), "after": after.to_json()}
    seen = f"{count} sessions were opened and closed, and nothing is left of them"
    return Finding.judged(faults, seen, measured, mild=not subject.is_ours)


def _open_and_close(subject: Subject) -> int:
    """How many sessions were opened and closed: fewer, where each takes long."""
    deadline = time.monotonic() + ROUND_S
    for number in range(ROUND):
        if time.monotonic() > deadline:
            return number
        with subject.stage.session() as client:
            turns = play(client, subject.stage.plan)
            next(turns)
            next(turns)
            client.close()
            client.close()
    return ROUND


def _growth(before: Footprint | None, after: Footprint | None, count: int) -> Iterator[str]:
    if before is None or after is None:
        return
    for name in ("processes", "threads", "files"):
        grown = getattr(after, name) - getattr(before, name)
        if grown >= max(2, count // 2):
            yield f"the server holds {grown} {name} more after {count} closed sessions"
    grown_mb = after.memory_mb - before.memory_mb
    if grown_mb >= GROWTH_MB * count:
        yield f"the server holds {grown_mb:.0f} MB more after {count} closed sessions"


def _footprint(subject: Subject, look: Callable[[int], Footprint] = footprint) -> Footprint | None:
    return None if subject.pid is None or not CAN_MEASURE else look(subject.pid)


def _settled(subject: Subject, before: Footprint | None, count: int) -> Footprint | None:
    """The footprint, once it is no larger than before or the server has had time to let go."""
    deadline = time.monotonic() + SETTLE_S
    while list(_growth(before, _footprint(subject), count)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return _footprint(subject)


def _active(subject: Subject, most: int) -> int:
    """The sessions that the server says are open: so many, once those that were closed have ended.

    A server that does not say has none.
    """
    deadline = time.monotonic() + SETTLE_S
    while True:
        count = subject.server.get("/health").field("active_sessions")
        if not isinstance(count, int):
            return 0
        if count <= most or time.monotonic() > deadline:
            return count
        time.sleep(0.05)


CHECKS = (
    Check(
        "runtime.capacity",
        Level.RUNTIME,
        "One session more than the server holds is refused with CAPACITY_REACHED, and a slot that "
        "was freed is given again.",
        "Serve with `openenv serve` or `openenv.create_app`; let `close` return.",
        _capacity,
        needs=(EPISODE,),
        applies=_may_be_filled,
    ),
    Check(
        "runtime.resource_bounds",
        Level.RUNTIME,
        "Of sessions that were closed nothing is left: no slot, process, thread, file or memory.",
        "Let `close` stop and close all that `__init__`, `reset` and `step` have opened, and keep "
        "nothing in the class or module.",
        _close,
        needs=(EPISODE,),
    ),
)
