"""Checks of a server as HTTP shows it: it starts, and has its endpoints."""

from __future__ import annotations

import time

from openenv.client.endpoint import UNAUTHORIZED_STATUS, Endpoint
from openenv.protocol.errors import ProviderError
from openenv.testing.finding import Finding, Status, broken
from openenv.validation.policy import Level
from openenv.validation.registry import Check
from openenv.validation.running import validate_running_environment
from openenv.validation.subject import Subject

STARTUP = "runtime.startup"


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
        return broken(f"{subject.server.url}: {why}")
    if subject.server.get("/schema").status == UNAUTHORIZED_STATUS:
        return broken(
            f"{subject.server.url} asks for its token ({UNAUTHORIZED_STATUS}): set "
            "OPENENV_CLIENT_TOKEN to it"
        )
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
)
