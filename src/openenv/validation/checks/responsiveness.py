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
"""A step of this length gives /health more than enough time to answer meanwhile."""


def _responsive(subject: Subject) -> Finding:
    """Steps in one thread while another asks for the health; long steps alone tell something."""
    steps = _Steps(subject)
    thread = threading.Thread(target=steps.take, name="openenv-validate-steps")
    thread.start()
    answers = []
    try:
        while thread.is_alive():
            asked = time.monotonic()
            if subject.server.get("/health").status == 200:
                answers.append((asked, time.monotonic()))
            thread.join(0.02)
    finally:
        steps.stop = True
        thread.join()
    if steps.problem is not None:
        return skipped(f"the steps failed: {steps.problem}")
    longest = max((end - start for start, end in steps.spans), default=0.0)
    silent = [
        end - start
        for start, end in steps.spans
        if end - start >= LONG_S
        and not any(start <= asked and answered <= end for asked, answered in answers)
    ]
    faults = [f"nobody was answered during a step of {span:.1f} s" for span in silent[:1]]
    seen = f"/health was answered {len(answers)} times while steps of up to {longest:.3f} s ran"
    measured = {"longest_step_s": round(longest, 3), "answers": len(answers), "silent": len(silent)}
    return Finding.judged(faults, seen, measured)


class _Steps:
    """Plays the plan, and keeps when each call began and ended."""

    def __init__(self, subject: Subject) -> None:
        self._stage = subject.stage
        self.spans: list[tuple[float, float]] = []
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
