"""Report: what was found, in words for people and as JSON for programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from openenv.testing.finding import Finding, Status
from openenv.validation.policy import Policy

_BAD = (Status.FAIL, Status.ERROR)
_DOUBTFUL = (Status.WARN, Status.SKIP)


@dataclass(frozen=True)
class Result:
    """How one check went.

    Attributes:
        check_id: its name.
        finding: what it has shown.
        remediation: how to mend what is not as it should be.
        duration_s: how long it took, in seconds.
        unmet: what it needs and did not have, so that it did not run.
    """

    check_id: str
    finding: Finding
    remediation: str | None = None
    duration_s: float = 0.0
    unmet: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """How it ended."""
        return self.finding.status

    def to_json(self) -> dict[str, Any]:
        """The result as reports have it."""
        return {
            "check_id": self.check_id,
            "status": self.status.value,
            "measured": self.finding.measured,
            "evidence": list(self.finding.evidence),
            "remediation": self.remediation,
            "duration_s": round(self.duration_s, 6),
        }


@dataclass
class Report:
    """All that was found.

    Attributes:
        target: what was looked at, as it was named.
        policy: what it was held to.
        signature: what it was recognised by.
        source_digest: the SHA-256 of its files; `None` where there are none.
        manifest: what it declares; `None` if it has no manifest, or a wrong one.
        levels_run: the levels of which checks have run.
        results: in the order in which they ran.
        not_applicable: checks that have nothing to look at here, and why.
        running: the report on the running server, where one was named.
    """

    target: str
    policy: Policy
    signature: str
    source_digest: str | None = None
    manifest: dict[str, Any] | None = None
    levels_run: list[int] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    not_applicable: dict[str, str] = field(default_factory=dict)
    running: dict[str, Any] | None = None

    @property
    def verdict(self) -> str:
        """`pass`, `warn` or `fail`; `warn` also if there was nothing to look at."""
        statuses = {result.status for result in self.results}
        if statuses & set(_BAD):
            return "fail"
        return "warn" if statuses & set(_DOUBTFUL) or not statuses else "pass"

    def counts(self) -> dict[str, int]:
        """How many checks ended how."""
        counted = Counter(result.status.value for result in self.results)
        return {status.value: counted[status.value] for status in Status if counted[status.value]}

    def to_json(self) -> dict[str, Any]:
        """The report, as `--json` prints it."""
        return {
            **(self.running or {}),
            "report_schema_version": self.policy.report_version,
            "target": self.target,
            "source_digest": self.source_digest,
            "signature": self.signature,
            "manifest": self.manifest,
            "policy_version": self.policy.version,
            "lane": "local",
            "levels_run": self.levels_run,
            "results": [result.to_json() for result in self.results],
            "not_applicable": self.not_applicable,
            "verdict": self.verdict,
        }


def bounds(policy: Policy) -> dict[str, float]:
    """A policy's bounds, as a result tells them."""
    return {name: value for name, value in asdict(policy).items() if isinstance(value, float)}
