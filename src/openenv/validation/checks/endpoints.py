"""Checks of a server as HTTP shows it: it starts, has its endpoints, and keeps answering."""

from __future__ import annotations

import threading
import time

from openenv.client.endpoint import Endpoint
from openenv.protocol.errors import OpenEnvError, ProviderError
from openenv.testing.finding import Finding, Status, skipped
from openenv.testing.trajectory import play
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.running import validate_running_environment
from openenv.validation.subject import Subject

STARTUP = "runtime.startup"
LONG_S = 1.0
"""A step of this length gives /health more than enough time to answer meanwhile."""


def _startup(subject: Subject) -> Finding:
    began = time.monotonic()
    try:
        subject.start()
    except ProviderError as error:
        return Finding(Status.FAIL, tuple(str(error).splitlines()))
    health = subject.server.get("/health")
    took = round(time.monotonic() - began, 3)
    if health.status != 200:
        why = health.problem or f"GET /health answers with {health.status}"
        return Finding(Status.FAIL, (f"{subject.server.url}: {why}",))
    seen = f"healthy after {took:g} s" if subject.is_ours else f"{subject.server.url} is healthy"
    return Finding.judged([], seen, {"startup_s": took})


def _endpoints(subject: Subject) -> Finding:
    site = subject.server
    report = validate_running_environment(site.url, site.timeout_s, site.headers)
    subject.running = report
    faults = [
        f"{criterion['description']}: "
        + (criterion.get("details") or f"got {criterion.get('actual')}")
        for criterion in report["criteria"]
        if not criterion["passed"]
    ]
    met = f"all {len(report['criteria'])} criteria are met, in {report['mode']} mode"
    failed = report["summary"]["failed_criteria"]
    return Finding.judged(faults, met, {"mode": report["mode"], "failed_criteria": failed})


def _authentication(subject: Subject) -> Finding:
    open_to_all = subject.server.without_headers().get("/schema").status == 200
    faults = [f"whoever reaches {subject.server.url} can run episodes: it asks for no token"]
    measured = {"asks": not open_to_all}
    return Finding.judged(faults if open_to_all else [], "it asks for a token", measured, mild=True)


def _is_private(subject: Subject) -> str | None:
    private = subject.is_ours or Endpoint(subject.target.place).is_local
    return "only this machine can reach it" if private else None


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
        STARTUP,
        Level.RUNTIME,
        "The server starts, and `GET /health` answers.",
        "Correct what its log says; `openenv serve TARGET` shows the same.",
        _startup,
    ),
    Check(
        "runtime.endpoints",
        Level.RUNTIME,
        "The server has the endpoints that clients and tools rely on: /openapi.json, /health, "
        "/metadata, /schema, /mcp, and all of /reset, /step and /state or none of them.",
        "Make the app with `openenv.create_app`, which has all of them.",
        _endpoints,
        needs=(STARTUP,),
    ),
    Check(
        "runtime.authentication",
        Level.RUNTIME,
        "A server that others can reach asks for a token.",
        "Set OPENENV_TOKEN where the server runs, and OPENENV_CLIENT_TOKEN for its clients; or "
        "put it behind a proxy that asks.",
        _authentication,
        needs=(STARTUP,),
        applies=_is_private,
    ),
    Check(
        "runtime.responsive",
        Level.RUNTIME,
        "The server answers `GET /health` while a step runs.",
        "A step that takes long must not run on the event loop: leave `HOST` out (a thread), or "
        'write `HOST = "process"`; in async code await, and never block.',
        _responsive,
        needs=(STARTUP, "runtime.episode"),
    ),
)
