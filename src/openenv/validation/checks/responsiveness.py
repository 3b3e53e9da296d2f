"""A check of what others notice while a step runs."""

from __future__ import annotations

import threading
import time

from openenv.protocol.errors import OpenEnvError
from openenv.testing.finding import Finding, skipped
from openenv.testing.trajectory import play
from openenv.validation.checks.episodes import EPISODE
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.subject import Subject

LONG_S = 1.0
"""Nobody waits as long as this for /health but on an event loop that is blocked."""
Span = tuple[float, float]


def _responsive(subject: Subject) -> Finding:
    """Steps in one thread while another asks for the health; long steps alone tell something."""
    steps = _Steps(subject)
    thread = threading.Thread(target=steps.take, name="openenv-validate-steps")
    thread.start()
    waits: list[Span] = []
    try:
        while thread.is_alive():
            asked = time.monotonic()
            subject.server.get("/health")
            waits.append((asked, time.monotonic()))
            thread.join(0.02)
    finally:
        steps.stop = True
        thread.join()
    if steps.problem is not None:
        return skipped(f"the steps failed: {steps.problem}")
    return _judged(steps.spans, waits)


def _judged(steps: list[Span], waits: list[Span]) -> Finding:
    """A question that waits through half of a long step waits for its end."""
    longest = max((end - begin for begin, end in steps), default=0.0)
    blocked = [
        step
        for step in steps
        if max((_common(step, wait) for wait in waits), default=0.0)
        >= max(LONG_S, (step[1] - step[0]) / 2)
    ]
    faults = [
        f"nobody was answered during a step of {end - begin:.1f} s" for begin, end in blocked[:1]
    ]
    seen = f"/health was answered {len(waits)} times while steps of up to {longest:.3f} s ran"
    measured = {
        "longest_step_s": round(longest, 3),
        "answers": len(waits),
        "blocked": len(blocked),
    }
    return Finding.judged(faults, seen, measured)


def _common(one: Span, other: Span) -> float:
    """The seconds that two spans have in common."""
    return min(one[1], other[1]) - max(one[0], other[0])


class _Steps:
    """Plays the plan, and keeps when each call began and ended."""

    def __init__(self, subject: Subject) -> None:
        self._stage = subject.stage
        self.spans: list[Span] = []
        self.problem: OpenEnvError | None = None
        self.stop = False

    def take(self) -> None:
        """Takes the steps, until they are done or somebody says stop."""
        try:
            with self._stage.session() as client:
                began = time.monotonic()
                for _ in play(client, self._stage.plan):
                    now = time.monotonic()
                    self.spans.append((began, now))
                    began = now
                    if self.stop:
                        return
        except OpenEnvError as error:
            self.problem = error


CHECKS = (
    Check(
        "runtime.responsive",
        Level.RUNTIME,
        "The server answers `GET /health` while a step runs.",
        "A step that takes long must not run on the event loop: leave `HOST` out (a thread), or "
        'write `HOST = "process"`; in async code await, and never block.',
        _responsive,
        needs=(EPISODE,),
    ),
)
