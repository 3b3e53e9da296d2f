"""`validate`: runs the checks on a target, and reports."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from typing import TypeVar

from openenv.protocol.errors import OpenEnvError
from openenv.testing.finding import Finding, Status, skipped
from openenv.validation.policy import Level, Policy
from openenv.validation.registry import Check, foreign_checks, own_checks
from openenv.validation.report import Report, Result
from openenv.validation.running import validate_running_environment
from openenv.validation.subject import Subject
from openenv.validation.target import Target

ResultT = TypeVar("ResultT")
_MET = (Status.PASS, Status.WARN)


def validate(
    target: Target | str,
    level: Level = Level.SEMANTIC,
    *,
    policy: str | None = None,
    timeout_s: float = 5.0,
    headers: Mapping[str, str] | None = None,
    told: Callable[[str], None] = lambda check: None,
) -> Report:
    """Runs every check up to a level; what was started is stopped again.

    Args:
        target: a package's directory, another source that `openenv serve` takes, `image:NAME`, or
            a running server's URL.
        level: how much is looked at; a running server is at least played.
        policy: what it is held to, by its version; by default the level's own.
        timeout_s: how long each HTTP request may take, in seconds.
        headers: of every request to a server that was named, for example `Authorization`.
        told: is told of each check by its name, before it runs.

    Raises:
        UsageProblem: the target is nothing that can be validated.
        PolicyProblem: there is no such policy.
    """
    target = Target.named(target) if isinstance(target, str) else target
    chosen = Policy.chosen(policy, level)
    subject = Subject(target, chosen, timeout_s, dict(headers or {}))
    report = Report(target.name, chosen, target.signature, target.digest())
    foreign, broken = foreign_checks()
    if target.kind == "url":  # which has no files to look at
        level = max(level, Level.RUNTIME)
    try:
        for check in [*own_checks(), *foreign]:
            if check.level <= level:
                _run(check, subject, report, told)
    finally:
        subject.close()
    for name, why in broken.items():
        report.results.append(Result(name, skipped(f"the plugin could not be loaded: {why}")))
    report.manifest = subject.manifest
    if target.kind == "url":
        report.running = subject.running or validate_running_environment(
            target.place, timeout_s, headers
        )
    return report


def _run(check: Check, subject: Subject, report: Report, told: Callable[[str], None]) -> None:
    """Runs one check, if it has something to look at and what it needs is there."""
    missing = [report.not_applicable[n] for n in check.needs if n in report.not_applicable]
    why = missing[0] if missing else _guarded(lambda: check.applies(subject), subject)
    if isinstance(why, str):
        report.not_applicable[check.id] = why
        return
    if unmet := _unmet(check, report):
        left_out = skipped(f"unmet dependency: {', '.join(unmet)}")
        report.results.append(Result(check.id, left_out, unmet=unmet))
        return
    told(check.id)
    began = time.monotonic()
    finding = _guarded(lambda: check.look(subject), subject) if why is None else why
    mend = None if finding.status is Status.PASS else check.mend
    report.results.append(Result(check.id, finding, mend, time.monotonic() - began))
    report.levels_run = sorted({*report.levels_run, int(check.level)})


def _unmet(check: Check, report: Report) -> tuple[str, ...]:
    status = {result.check_id: result.status for result in report.results}
    return tuple(need for need in check.needs if status.get(need) not in _MET)


def _guarded(call: Callable[[], ResultT], subject: Subject) -> ResultT | Finding:
    """What a call gives; what the server answers instead counts against the environment."""
    try:
        return call()
    except OpenEnvError as error:
        return Finding(Status.FAIL, (*str(error).splitlines(), *subject.last_words()))
    except Exception as error:  # noqa: BLE001  # one check's fault is no reason to end the others
        last = traceback.format_exception_only(error)[-1].strip()
        return Finding(Status.ERROR, (f"the check itself failed: {last}",))
